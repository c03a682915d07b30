"""What a call cost: told by the provider, worked out from prices, or not known (which is never recorded as nothing)."""

from collections.abc import Mapping
from typing import Any

import litellm
from minisweagent.exceptions import LimitsExceeded
from minisweagent.models import GLOBAL_MODEL_STATS

UNKNOWN = {"cost": 0.0, "cost_is_known": False, "cost_source": ""}


def cost_of(response: Any, usage: Mapping[str, Any] | None, model_name: str) -> dict[str, Any]:
    """`cost` in US dollars, `cost_is_known`, and `cost_source`: 'provider', 'prices' or ''."""
    told = (usage or {}).get("cost")
    if isinstance(told, int | float) and not isinstance(told, bool) and told >= 0:
        return {"cost": float(told), "cost_is_known": True, "cost_source": "provider"}
    try:
        cost = float(litellm.cost_calculator.completion_cost(response, model=model_name))
    except Exception:  # noqa: BLE001 - litellm raises bare Exception for a model without a price
        return dict(UNKNOWN)
    if cost <= 0 and not has_price(model_name):  # litellm says 0 for some models that it does not know
        return dict(UNKNOWN)
    return {"cost": cost, "cost_is_known": True, "cost_source": "prices"}


def priced(usage: Mapping[str, Any] | None) -> Any:
    """A response of these tokens alone, for `cost_of`; None where they cannot be read."""
    try:
        return litellm.ModelResponse(usage=litellm.Usage(**(usage or {})))
    except (TypeError, ValueError):
        return None


def charge(usd: float) -> None:
    """Add to mini-swe-agent's total of the process, which `mini` shows; its own check raises after a call was paid."""
    try:
        GLOBAL_MODEL_STATS.add(usd)
    except RuntimeError:  # it is counted; the next call is not made
        pass


def check_global_limits() -> None:
    """Raises LimitsExceeded before a call that MSWEA_GLOBAL_COST_LIMIT or MSWEA_GLOBAL_CALL_LIMIT does not allow."""
    stats = GLOBAL_MODEL_STATS
    if 0 < stats.cost_limit <= stats.cost or 0 < stats.call_limit <= stats.n_calls:
        extra = {"exit_status": "LimitsExceeded", "submission": ""}
        raise LimitsExceeded({"role": "exit", "content": "LimitsExceeded", "extra": extra})


def has_price(model_name: str) -> bool:
    """Whether litellm's list has the model."""
    return model_name in litellm.model_cost or model_name.partition("/")[2] in litellm.model_cost
