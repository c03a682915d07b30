"""A window for people and other processes: `GET /_loopback/exchanges`, `PUT /_loopback/faults`."""

import json
from dataclasses import asdict

from pydantic import ValidationError

from agent_plugin.loopback.injected import FaultsFile
from agent_plugin.loopback.player import Player


def control(player: Player, method: str, path: str, raw: bytes) -> tuple[int, bytes]:
    """(HTTP status, JSON) for a request that is none to a model."""
    if (method, path) == ("GET", "/_loopback/exchanges"):
        return 200, json.dumps([asdict(exchange) for exchange in player.exchanges.all()], default=str).encode()
    if (method, path) == ("PUT", "/_loopback/faults"):
        try:
            wanted = FaultsFile.model_validate_json(raw)
        except ValidationError as error:
            return 400, json.dumps({"error": str(error)}).encode()
        player.plan.replace(wanted.faults)
        return 200, json.dumps({"faults": len(wanted.faults)}).encode()
    known = "GET /_loopback/exchanges, PUT /_loopback/faults, POST to a model"
    return 404, json.dumps({"error": {"message": f"Nothing at {method} '{path}'. There is: {known}."}}).encode()
