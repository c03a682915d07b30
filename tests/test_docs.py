"""The documentation names everything that there is, and nothing else."""

import re
from pathlib import Path
from typing import get_args

import pytest

from agent_plugin.config import ModelSettings
from agent_plugin.launch_settings import LaunchSettings
from agent_plugin.loopback.injected import ANSWER_FAULTS, DELIVERY_FAULTS
from agent_plugin.loopback.refused import RefusalKind
from agent_plugin.loopback.routes import ROUTES
from agent_plugin.losses import LOSSES, LossClass
from agent_plugin.models.failures import ERRORS, EXIT_STATUSES, FailureKind
from agent_plugin.scripted_file import load_scripted
from agent_plugin.submission import SUBMIT
from agent_plugin.tasks import Task
from harness.settings import HarnessSettings
from harness.step_result import StepOutcome
from recorder.config_secrets import HARMLESS
from recorder.events import EVENT
from recorder.export.listing import FORMATS
from recorder.run_report import Counts

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = (ROOT / "docs/reference.md").read_text(encoding="utf-8")


SOURCES_OF_PROBLEMS = (
    "harness/problems",
    "harness/run_problems",
    "harness/scene_verdict",
    "harness/video_verdict",
    "agent_plugin/finals",
    "agent_plugin/final_checks",
)


INTEGRITY = ("integrity", "integrity_files", "integrity_outcome", "integrity_verification")

README = (ROOT / "README.md").read_text(encoding="utf-8")
LOOPBACK = (ROOT / "docs/loopback.md").read_text(encoding="utf-8")


def table(title: str) -> set[str]:
    """The first column of the table under a heading."""
    section = REFERENCE.split(f"## {title}\n")[1].split("\n## ")[0]
    return set(re.findall(r"^\| `([a-z_]+)` \|", section, re.MULTILINE))


def problem_codes() -> set[str]:
    """Every problem code in the source."""
    source = "".join((ROOT / f"{name}.py").read_text() for name in SOURCES_OF_PROBLEMS)
    codes = set(re.findall(r'Problem\(\s*"([a-z_]+)"', source)) | set(re.findall(r'"(video_[a-z_]+)": "', source))
    return codes | {f"{cause}_limit" for cause in ("output", "disk", "files", "processes")}


def test_every_setting_has_its_line() -> None:
    """The table of settings is the list of settings."""
    assert table("Settings of the harness") == set(HarnessSettings.model_fields)


def test_every_setting_of_a_model_has_its_line() -> None:
    """The table of a model's settings is the list of them."""
    assert table("Settings of a model") == set(ModelSettings.model_fields)


def test_every_setting_of_a_launch_has_its_line() -> None:
    """The table of a launch's settings is the list of them."""
    assert table("Settings of a launch") == set(LaunchSettings.model_fields)


def test_every_class_of_loss_has_its_line() -> None:
    """With the number of retries that the source has, and whom a pause holds back."""
    section = REFERENCE.split("## How an episode can be lost\n")[1].split("\n## ")[0]
    assert table("How an episode can be lost") == set(LOSSES) == set(get_args(LossClass))
    for name, policy in LOSSES.items():
        held = "every model" if policy.is_of_machine else "this model"
        assert re.search(rf"^\| `{name}` \|.*\| {policy.n_retries} \| {held} \|$", section, re.MULTILINE), name


def test_every_failure_of_a_model_call_has_its_line() -> None:
    """With the name that the episode ends as."""
    section = REFERENCE.split("## How a model call can fail\n")[1].split("\n## ")[0]
    ends = {kind: error.__name__ for kind, error in ERRORS.items()} | EXIT_STATUSES
    assert table("How a model call can fail") == set(get_args(FailureKind))
    for kind, name in ends.items():
        assert re.search(rf"^\| `{kind}` \|.*`{name}`", section, re.MULTILINE), kind


def test_every_task_key_has_its_line() -> None:
    """The table of task keys is the list of task keys."""
    assert table("Keys of a task") == set(Task.model_fields)


def test_every_problem_has_its_line() -> None:
    """The table of problems is the list of problems."""
    assert table("Problems") == problem_codes()


def test_every_step_outcome_has_its_line() -> None:
    """The table of outcomes is the list of outcomes."""
    assert table("How a step can end") == set(get_args(StepOutcome))


def test_every_fault_and_route_of_the_loopback_has_its_line() -> None:
    """The page names what can be injected, and every way to reach the server."""
    kinds = re.findall(r"`([a-z_]+)`", "".join(re.findall(r"^\| (`.*?) \|", LOOPBACK, re.MULTILINE)))
    assert sorted(kinds) == sorted([*get_args(RefusalKind), *ANSWER_FAULTS, *DELIVERY_FAULTS])
    routes = LOOPBACK.split("## Routes\n")[1]
    assert [name for name in ROUTES if f"`{name}`" not in routes] == []


def test_every_finding_has_its_line() -> None:
    """The table of findings is the list of findings."""
    source = "".join((ROOT / f"recorder/{name}.py").read_text() for name in INTEGRITY)
    codes = set(re.findall(r'code="([a-z]+)"', source)) | set(re.findall(r'_at\([\w.]+, "([a-z]+)"', source))
    assert table("Findings of `verify --integrity`") == codes


def test_every_format_has_its_section() -> None:
    """docs/formats.md and the list of formats name the same ones."""
    page = (ROOT / "docs/formats.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^### `([a-z-]+)`", page, re.MULTILINE)) == {"canonical", *FORMATS}


def test_whatever_became_of_an_episode_has_its_line() -> None:
    """The table names every class that `blendscribe status` counts."""
    section = REFERENCE.split("## Figures of a run\n")[1].split("\n## ")[0].split("| figure |")[0]
    named = {
        f"n_{word.replace(' ', '_')}"
        for word in re.findall(r"`([a-z ]+)`", "".join(re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)))
    }
    assert named == set(Counts.__dataclass_fields__) - {"n_planned"}


def test_every_event_has_its_line() -> None:
    """docs/formats.md and the model name the same kinds of events."""
    page = (ROOT / "docs/formats.md").read_text(encoding="utf-8")
    section = page.split("## What a run's launchers did\n")[1].split("\n## ")[0]
    kinds = set(EVENT.json_schema()["discriminator"]["mapping"])
    assert set(re.findall(r"^\| `([a-z_]+)` \|", section, re.MULTILINE)) == kinds


@pytest.mark.parametrize("target", ["demo", "test", "attacks", "routes", "test-consumers", "setup", "help", "bench"])
def test_make_targets_exist(target: str) -> None:
    """What the README says to make can be made."""
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


@pytest.mark.parametrize(
    "path", re.findall(r"`((?:harness|recorder|agent_plugin|tests|docs)/[\w/.]+)`", (ROOT / "README.md").read_text())
)
def test_paths_in_the_readme_exist(path: str) -> None:
    """Files that the README names are there."""
    assert (ROOT / path).exists()


def test_every_header_that_is_kept_is_named() -> None:
    """What is not removed from records is a promise too."""
    section = REFERENCE.split("The values of these alone are kept:")[1].split(".")[0]
    assert {name.lower() for name in re.findall(r"`([\w-]+)`", section)} == HARMLESS


def test_the_scripted_model_of_the_readme_is_one(tmp_path: Path) -> None:
    """A newcomer copies it: it can be read, runs Blender and hands in."""
    (block,) = [b for b in re.findall(r"```yaml\n(.*?)```", README, re.DOTALL) if "conversations:" in b]
    (tmp_path / "turns.yaml").write_text(block)
    (conversation,) = load_scripted(tmp_path / "turns.yaml").conversations
    tools = [call.tool for turn in conversation.turns for call in turn.calls]
    assert tools == ["bash", "run_blender", "bash"]
    assert conversation.turns[-1].calls[0].arguments == {"command": f"echo {SUBMIT}"}
    assert conversation.when in README.split("brief: |")[1].split("```")[0].lower()
