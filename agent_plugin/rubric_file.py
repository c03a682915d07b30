"""Reads a rubric: every fault with its place, and what is allowed there."""

import json
from typing import Any

from pydantic import ValidationError

from agent_plugin.faults import BadInput, faults_of
from recorder.rubric import Rubric


def parse_rubric(raw: Any, file: str, place: str = "") -> Rubric:
    """The rubric of JSON values that stand at `place` of `file`. Raises BadInput with every fault."""
    try:
        # as JSON: strict there takes a list for a tuple, and still no text for a number
        return Rubric.model_validate_json(json.dumps(raw), strict=True)
    except ValidationError as error:
        faults = faults_of(error, Rubric, file=file, place=place)
        if any("criteria[" in fault.place for fault in faults):
            # where each criterion has a fault, pydantic says that there is none as well
            faults = [fault for fault in faults if not fault.place.endswith("criteria")]
        raise BadInput(faults) from error
