"""The ready files for providers and servers: valid, without secrets, and each names the variable of its key."""

import re
from pathlib import Path
from typing import Any

import litellm
import pytest
from minisweagent.models import get_model

from agent_plugin.config import load_config
from agent_plugin.models.portkey import PortkeyMissing
from agent_plugin.places import CONFIGS_DIR
from agent_plugin.preflight import provider_faults
from agent_plugin.tools import tools_for
from tests.agent_plugin.conftest import CALLS_LITELLM

pytestmark = CALLS_LITELLM

FILES = sorted((CONFIGS_DIR / "models").glob("*.yaml"))
_KEY = re.compile(r"^# .*Key: ([A-Z_]+)$", re.MULTILINE)
NO_KEY = {"vllm", "vllm_text", "sglang", "ollama", "lm_studio"}


@pytest.fixture
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which no provider is known."""
    import os

    for name in list(os.environ):
        if re.search(r"KEY|TOKEN|^AWS|^AZURE|_BASE", name):
            monkeypatch.delenv(name)


def variable(file: Path) -> str:
    found = _KEY.search(file.read_text())
    return found[1] if found else ""


def test_every_big_provider_and_local_server_has_one() -> None:
    """These at least."""
    wanted = "anthropic openai openai_responses gemini bedrock azure openrouter deepseek mistral groq xai together"
    local = "vllm sglang ollama lm_studio litellm_proxy"
    assert {*wanted.split(), *["fireworks", "portkey"], *local.split()} <= {file.stem for file in FILES}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_it_is_valid_and_makes_a_model(file: Path, no_keys: None) -> None:
    """By `-c` here and in plain `mini`; with the class that it names, or that its model's name chooses."""
    config = load_config([f"models/{file.name}"])
    assert config == load_config([str(file)])
    name = config.model.model_name
    assert name
    try:
        model: Any = get_model(name, config.model.for_mini("scene"))
    except PortkeyMissing:
        assert file.stem == "portkey"
    else:
        assert model.tools == tools_for("scene")
        assert model.policy.placement != "auto"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_it_names_the_variable_of_its_key(file: Path, no_keys: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that is asked for where it is missing, and that is enough."""
    text = file.read_text()
    assert not re.search(r"api_key|sk-|Bearer", text)
    assert bool(variable(file)) == (file.stem not in NO_KEY)
    if file.stem in NO_KEY:
        assert "No key." in text
        return
    config = load_config([str(file)])
    missing = litellm.validate_environment(config.model.model_name)["missing_keys"]
    if missing:
        assert variable(file) in missing
    if file.stem in ("portkey", "bedrock"):
        return
    faults = [str(fault) for fault in provider_faults([config.model.model_name], config.model.model_kwargs)]
    if missing:
        assert len(faults) == 1
        for key in re.findall(r"[A-Z][A-Z_]+_[A-Z_]+", faults[0].partition("set ")[2]):
            monkeypatch.setenv(key, "x")
    assert provider_faults([config.model.model_name], config.model.model_kwargs) == []


def test_a_second_name_of_a_variable_will_do(no_keys: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Gemini's key has two; a local server needs none."""
    assert "set GE" in str(provider_faults(["gemini/x"], {})[0]) or "set GO" in str(
        provider_faults(["gemini/x"], {})[0]
    )
    monkeypatch.setenv("GOOGLE_API_KEY", "x")
    assert provider_faults(["gemini/x", "ollama_chat/x"], {}) == []
