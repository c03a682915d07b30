"""A cost is known, told, or unknown; a limit holds before the next call."""

from typing import Any

import litellm
import pytest
from minisweagent.exceptions import LimitsExceeded
from minisweagent.models import GLOBAL_MODEL_STATS

from agent_plugin.model import BlenderLitellmModel
from agent_plugin.models.cost import charge, check_global_limits, cost_of
from tests.agent_plugin.conftest import CALLS_LITELLM

pytestmark = CALLS_LITELLM


def response(model: str) -> Any:
    usage = {"prompt_tokens": 1000, "completion_tokens": 1000, "total_tokens": 2000}
    message = {"role": "assistant", "content": "x"}
    return litellm.ModelResponse(model=model, choices=[{"index": 0, "message": message}], usage=usage)


@pytest.mark.parametrize(
    ("model", "usage", "known", "source"),
    [
        ("openai/gpt-4.1", {}, True, "prices"),
        ("openai/gpt-4.1", {"cost": None}, True, "prices"),
        ("openrouter/nobody/knows", {"cost": 0.25}, True, "provider"),
        ("openrouter/nobody/knows:free", {"cost": 0}, True, "provider"),
        ("openai/nobody-knows", {}, False, ""),
        ("hosted_vllm/mine", {}, False, ""),
        ("ollama_chat/mine", {}, False, ""),
    ],
)
def test_where_a_cost_comes_from(model: str, usage: dict[str, Any], known: bool, source: str) -> None:
    """The provider's word goes first; a model of which no price is known is not free."""
    cost = cost_of(response(model), usage, model)
    assert (cost["cost_is_known"], cost["cost_source"]) == (known, source)
    assert cost["cost"] == usage.get("cost") or usage.get("cost") is None


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that has spent nothing."""
    monkeypatch.setattr(GLOBAL_MODEL_STATS, "_cost", 0.0)
    monkeypatch.setattr(GLOBAL_MODEL_STATS, "_n_calls", 0)
    monkeypatch.setattr(GLOBAL_MODEL_STATS, "cost_limit", 1.0)


@pytest.mark.usefixtures("limits")
def test_minis_own_limits_hold_before_a_call() -> None:
    """mini-swe-agent raises after the call was paid, and its answer is lost; here the call is not made."""
    charge(0.9)
    check_global_limits()
    charge(0.2)  # over the limit, and kept
    assert GLOBAL_MODEL_STATS.cost == pytest.approx(1.1)
    with pytest.raises(LimitsExceeded):
        check_global_limits()
    model = BlenderLitellmModel(model_name="openai/x", model_kwargs={"mock_response": "words"})
    with pytest.raises(LimitsExceeded):
        model.query([{"role": "user", "content": "u"}])
    assert GLOBAL_MODEL_STATS.n_calls == 2
