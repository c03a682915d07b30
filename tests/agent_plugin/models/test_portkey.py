"""Without its package a Portkey model says what to install; nothing else needs it."""

from importlib.util import find_spec

import pytest

from agent_plugin.model import auto_model
from agent_plugin.models.portkey import PortkeyMissing
from agent_plugin.preflight import provider_faults
from tests.agent_plugin.conftest import CALLS_LITELLM

pytestmark = CALLS_LITELLM


def test_what_is_missing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package, or the key; before anything starts and when the model is made."""
    monkeypatch.delenv("PORTKEY_API_KEY", raising=False)
    what = "Set PORTKEY_API_KEY" if find_spec("portkey_ai") else "pip install portkey-ai"
    with pytest.raises(PortkeyMissing, match=what):
        auto_model(model_name="portkey/gpt-4.1")
    (fault,) = provider_faults(["portkey/gpt-4.1"], {})
    assert what.lower() in fault.message.lower()
