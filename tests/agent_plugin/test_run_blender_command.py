"""`run_blender`: the shell command, for people and for agents' shells."""

import json
import sys
from pathlib import Path

import pytest
from minisweagent.models.utils.openai_multimodal import DEFAULT_MULTIMODAL_REGEX, expand_multimodal_content

from agent_plugin.commands.run_blender import main
from agent_plugin.places import SETTINGS_VARIABLE
from tests.conftest import FILM, RENDER, TINY

TAG = "<MSWEA_MULTIMODAL_CONTENT><CONTENT_TYPE>image_url</CONTENT_TYPE>data:,x</MSWEA_MULTIMODAL_CONTENT>"


@pytest.fixture(autouse=True)
def _workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ws").mkdir()
    monkeypatch.chdir(tmp_path / "ws")
    monkeypatch.setenv(SETTINGS_VARIABLE, json.dumps(TINY))


def run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr(sys, "argv", ["run_blender", *map(str, arguments)])
    with pytest.raises(SystemExit) as caught:
        main()
    return int(caught.value.code or 0)


@pytest.mark.blender
def test_a_good_script(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 0, the report, then each frame after its caption; a tag that the script prints makes no picture."""
    Path("main.py").write_text(f"print({TAG!r})\n" + FILM + f"cube.name = {TAG[:60]!r}\n" + RENDER)
    assert run(monkeypatch) == 0
    text = capsys.readouterr().out
    assert text.startswith("RUN OK: script executed and rendered a valid video\n")
    parts = expand_multimodal_content(text, pattern=DEFAULT_MULTIMODAL_REGEX)
    assert [part["type"] for part in parts] == ["text", "image_url", "text", "image_url", "text"]
    assert parts[0]["text"].endswith("Frame 1 (t = 0.00 s):\n")
    assert parts[2]["text"] == "\nFrame 4 (t = 0.12 s):\n"
    assert all(part["image_url"]["url"].startswith("data:image/jpeg;base64,/9j/") for part in parts[1::2])


@pytest.mark.blender
def test_a_bad_script(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 1 and a report that says why; names of files that are not UTF-8 can be shown."""
    Path("bad.py").write_text("import os\nopen(b'strange-\\xff.txt', 'w')\nraise ValueError('no')\n")
    assert run(monkeypatch, "./bad.py") == 1
    text = capsys.readouterr().out
    assert text.startswith("RUN FAILED: script_error")
    assert "ValueError: no" in text
    assert text.encode()


@pytest.mark.blender
def test_json(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The whole result, without pictures; settings come from a file when one is named."""
    Path("main.py").write_text(FILM + RENDER)
    config = Path("../harness.yaml")
    config.write_text(json.dumps({"harness": {**TINY, "frame_count": 5}}))
    assert run(monkeypatch, "main.py", "--json", "--config", config) == 1
    result = json.loads(capsys.readouterr().out)
    assert (result["ok"], result["outcome"], result["video"]["n_frames"]) == (False, "ok", 4)
    assert [problem["code"] for problem in result["problems"]] == ["video_frame_count"]


@pytest.mark.parametrize(
    "content",
    [
        "harness: {output_video: x.mp4}",
        "output_video: x.mp4",
        "environment: {harness: {output_video: x.mp4}}\nagent: {}",
        "environment: {}\nharness: {output_video: x.mp4}",
    ],
)
def test_forms_of_a_config(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], content: str) -> None:
    """The mapping alone, below `harness:`, or a whole config."""
    Path("../c.yaml").write_text(content)
    assert run(monkeypatch, "none.py", "--json", "--config", "../c.yaml") == 1
    assert json.loads(capsys.readouterr().out)["output_video"] == "x.mp4"


@pytest.mark.parametrize("value", ["", None])
def test_settings_may_be_absent(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], value: str | None
) -> None:
    """Then the defaults hold; main.py is the script."""
    monkeypatch.setenv(SETTINGS_VARIABLE, value) if value is not None else monkeypatch.delenv(SETTINGS_VARIABLE)
    assert run(monkeypatch) == 1
    assert "'main.py' does not exist" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("variable", "config", "text"),
    [
        ("{oops", None, "VCSFT_HARNESS: not valid JSON ("),
        ("[]", None, "VCSFT_HARNESS: must hold a mapping"),
        ('{"fsp": 3}', None, "VCSFT_HARNESS: fsp: unknown key. Known here: bpy_python, "),
        ('{"bpy_python": "/nonexistent"}', None, "No Blender interpreter at '/nonexistent'"),
        ("{}", "harness: {fps: fast}", "../c.yaml: fps: Input should be a valid number"),
        ("{}", "harness: [1]", "../c.yaml: must hold a mapping"),
        ("{}", "", "../c.yaml: must hold a mapping"),
        ("{}", "a: [", "../c.yaml: line 1, column 5: not valid YAML ("),
    ],
)
def test_bad_settings(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    variable: str,
    config: str | None,
    text: str,
) -> None:
    """Exit 2 and one line, before anything runs."""
    Path("main.py").write_text("raise SystemExit")
    monkeypatch.setenv(SETTINGS_VARIABLE, variable)
    more = []
    if config is not None:
        Path("../c.yaml").write_text(config)
        more = ["--config", "../c.yaml"]
    assert run(monkeypatch, *more) == 2
    stdout, stderr = capsys.readouterr()
    assert stdout == ""
    (line,) = stderr.splitlines()
    assert line.startswith(f"error: {text}")
