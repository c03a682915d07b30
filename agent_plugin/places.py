"""Where the prompts and configs that ship with blendscribe are, where a user's data goes, and how settings travel."""

import os
from pathlib import Path

_PACKAGE_DIR = Path(__file__).resolve().parent.parent
CONFIGS_DIR = _PACKAGE_DIR / "configs"
PROMPTS_DIR = _PACKAGE_DIR / "prompts"
SETTINGS_VARIABLE = "VCSFT_HARNESS"
"""Where `run_blender` finds its settings in an agent's shell, as JSON."""


def data_dir() -> Path:
    """The user's folder for what blendscribe makes."""
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share") / "blendscribe"


def read_prompt(name: str) -> str:
    """A template of `prompts/`, by its name without ending."""
    return (PROMPTS_DIR / f"{name}.jinja").read_text(encoding="utf-8")
