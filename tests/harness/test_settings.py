"""Settings of the harness: what is refused."""

import pytest
from pydantic import ValidationError

from harness.settings import HarnessSettings

BAD: list[dict[str, object]] = [
    {"fpss": 24},
    {"fps": 0},
    {"fps": float("nan")},
    {"resolution": [640]},
    {"resolution": [640, 1_000_000]},
    {"frame_count": 10, "max_frame_count": 5},
    {"output_video": "../output.mp4"},
    {"output_video": "/tmp/output.mp4"},
    {"output_video": "a/b.mp4"},
    {"output_video": ""},
    {"sandbox": "maybe"},
    {"exec_timeout": -1},
]


@pytest.mark.parametrize("settings", BAD, ids=str)
def test_bad_settings_are_refused(settings: dict[str, object]) -> None:
    """Unknown keys, values out of range and names that leave the workspace are refused."""
    with pytest.raises(ValidationError):
        HarnessSettings.model_validate(settings)


def test_settings_survive_json() -> None:
    """What is dumped loads as the same settings: that is how they reach an agent's shell."""
    settings = HarnessSettings(resolution=(100, 50), max_frame_count=90)
    assert HarnessSettings.model_validate_json(settings.model_dump_json()) == settings


def test_every_setting_is_documented() -> None:
    """Each field has its docstring beneath it."""
    import ast
    import inspect

    body = ast.parse(inspect.getsource(HarnessSettings)).body[0]
    assert isinstance(body, ast.ClassDef)
    documented = {
        field.target.id
        for field, after in zip(body.body, body.body[1:], strict=False)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
    }
    assert documented == set(HarnessSettings.model_fields)
