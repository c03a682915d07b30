"""Configs merge in order, and every fault of them is found before anything starts."""

from pathlib import Path

import pytest
import yaml

from agent_plugin.config import DEFAULT_CONFIG, load_config, merge
from agent_plugin.faults import BadInput
from agent_plugin.places import read_prompt


def faults_of(*specs: str) -> list[str]:
    with pytest.raises(BadInput) as caught:
        load_config(specs)
    return [str(fault) for fault in caught.value.faults]


def write(folder: Path, name: str, content: str) -> str:
    (folder / name).write_text(content)
    return str(folder / name)


def test_the_default_config_is_valid() -> None:
    """It resolves by itself, and its prompts are those of prompts/."""
    config = load_config([])
    assert config.environment.harness.output_video == "output.mp4"
    assert config.agent.instance_template == ""  # the prompt of the task's kind
    assert "{{ task }}" in read_prompt("video")
    assert "{{ task }}" in read_prompt("scene")


def test_later_configs_win(tmp_path: Path) -> None:
    """Mappings merge, lists and values are replaced."""
    first = write(tmp_path, "a.yaml", "environment: {timeout: 5, harness: {fps: 12, resolution: [64, 36]}}")
    second = write(tmp_path, "b.yaml", "environment: {harness: {fps: 30}}\nagent: {step_limit: 3}")
    config = load_config([first, second])
    assert (config.environment.timeout, config.agent.step_limit) == (5, 3)
    assert (config.environment.harness.fps, config.environment.harness.resolution) == (30, (64, 36))
    assert config.agent.cost_limit == load_config([]).agent.cost_limit


def test_values_on_the_command_line() -> None:
    """`a.b.c=value`: JSON where it is JSON, else text."""
    config = load_config(
        [
            "environment.harness.fps=12.5",
            "harness.resolution=[64, 36]",
            "model.model_kwargs.api_base=http://x/y.yaml",
            "model.model_kwargs.a.b=null",
            "agent.step_limit=7",
        ]
    )
    assert (config.environment.harness.fps, config.environment.harness.resolution) == (12.5, (64, 36))
    assert config.model.model_kwargs == {"drop_params": True, "api_base": "http://x/y.yaml", "a": {"b": None}}
    assert config.agent.step_limit == 7


def test_harness_at_the_top(tmp_path: Path) -> None:
    """It is the same as `environment.harness`, and merges with it."""
    path = write(tmp_path, "a.yaml", "harness: {fps: 12}\nenvironment: {harness: {frame_count: 3}}")
    assert load_config([path]) == load_config(["environment.harness.fps=12", "environment.harness.frame_count=3"])


def test_every_fault_is_listed_at_once(tmp_path: Path) -> None:
    """Unknown keys at each level, types, values; each with the file or option that it comes from."""
    a = write(tmp_path, "a.yaml", "agnet: {}\nagent: {stp_limit: 3}\nharness: {fps: fast, sandbox: maybe}")
    b = write(
        tmp_path, "b.yaml", "model: {image_placement: beside, model_kwargs: 5}\nenvironment: {timeout: 0, cwd: /x}"
    )
    bad = write(tmp_path, "bad.yaml", "a: [")
    faults = faults_of(a, b, bad, "harness.frame_count=many", "nonsense")
    assert [fault for fault in faults if not fault.startswith((f"{a}: ", f"{b}: "))] == [
        f"{bad}: line 1, column 5: not valid YAML (expected the node content, but found '<stream end>')",
        "-c nonsense: neither a YAML file nor `a.b.c=value`",
        "-c harness.frame_count: environment.harness.frame_count: Input should be a valid integer, "
        "unable to parse string as an integer (it is 'many')",
    ]
    for start in (
        f"{a}: agnet: unknown key. Known here: agent, environment, model, launch, harness",
        f"{a}: agent.stp_limit: unknown key. Known here: agent_class, system_template, instance_template, step_limit",
        f"{a}: environment.harness.fps: Input should be a valid number",
        f"{a}: environment.harness.sandbox: Input should be 'auto', 'required' or 'off' (it is 'maybe')",
        f"{b}: model.image_placement: Input should be 'auto', 'native', 'followup' or 'drop' (it is 'beside')",
        f"{b}: model.model_kwargs: must be a mapping (it is 5)",
        f"{b}: environment.timeout: Input should be greater than 0 (it is 0)",
        f"{b}: environment.cwd: Input should be ''",
    ):
        assert [fault for fault in faults if fault.startswith(start)], start
    assert len(faults) == 11


@pytest.mark.parametrize(
    "spec",
    [
        "model.api_key={}",
        "model.model_kwargs={}",
        "model.model_kwargs={{'api_key': '{}'}}",
        "model={}",
        "api_key={}",
        "environment.env={}",
        'environment.env.HF_TOKEN=["{}"]',
        "model.extra_headers.X-Auth={}",
        ".={}",
    ],
)
def test_a_fault_names_the_key_and_not_a_secret(spec: str) -> None:
    """What stands in a wrong place, or is of a wrong form, may be a key all the same."""
    faults = faults_of(spec.format("correct-horse"))
    assert len(faults) == 1
    assert "horse" not in faults[0]
    assert faults[0].startswith(f"-c {spec.partition('=')[0]}: ")


def test_what_looks_like_a_key_is_not_told() -> None:
    """Wherever it was put."""
    key = "sk-ant-" + "a1B2" * 9
    told = faults_of(key, f"harness.fps={key}", f"agent.mode={key}")
    assert len(told) == 3
    assert not [fault for fault in told if key in fault]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("- 1", "must hold a mapping"),
        ("", "must hold a mapping"),
        ("agent:", "agent: must be a mapping (it is None)"),
        ("environment: 5", "environment: must be a mapping (it is 5)"),
        ("harness: []", "environment.harness: must be a mapping (it is [])"),
        (
            "agent: {step_limit: 1, step_limit: 2}",
            "line 1, column 24: not valid YAML (the key 'step_limit' stands here twice)",
        ),
        (
            "agent: {agent_class: x.Y}",
            "agent.agent_class: Input should be 'agent_plugin.agent.BlenderAgent' (it is 'x.Y')",
        ),
        ("environment: {environment_class: docker}", "environment.environment_class: Input should be 'agent_plugin."),
        ("model: {litellm_model_registry: /none}", "model.litellm_model_registry: Path does not point to a file"),
        ("model: {set_cache_control: all}", "model.set_cache_control: Input should be 'default_end' (it is 'all')"),
    ],
)
def test_a_file_that_cannot_be_used(tmp_path: Path, content: str, text: str) -> None:
    """One fault, in that file."""
    path = write(tmp_path, "a.yaml", content)
    (fault,) = faults_of(path)
    assert fault.startswith(f"{path}: {text}")


@pytest.mark.parametrize("spec", ["none.yaml", "=5", "a..b=5", "nonsense", ""])
def test_a_spec_that_is_none(spec: str) -> None:
    """It is shown, and what one may give."""
    (fault,) = faults_of(spec)
    assert "cannot be read" in fault or "neither a YAML file nor `a.b.c=value`" in fault


def test_an_explicit_null_switches_the_cache_control_off() -> None:
    """mini-swe-agent sets it for every Claude where the key is absent."""
    assert "set_cache_control" not in load_config([]).model.for_mini("video")
    assert load_config(["model.set_cache_control=null"]).model.for_mini("video")["set_cache_control"] is None


def test_the_default_config_is_one_that_mini_reads() -> None:
    """It names our three classes, by keys that mini-swe-agent looks for, and nothing at the top beside them."""
    raw = yaml.safe_load(DEFAULT_CONFIG.read_text())
    assert set(raw) == {"agent", "environment", "model"}
    assert raw["agent"]["agent_class"] == "agent_plugin.agent.BlenderAgent"
    assert raw["environment"]["environment_class"] == "agent_plugin.environment.BlenderEnvironment"
    assert raw["model"]["model_class"] == "agent_plugin.model.auto_model"


def test_merge_changes_neither_side() -> None:
    """The result is new."""
    base, over = {"a": {"b": 1}}, {"a": {"c": 2}}
    assert merge(base, over) == {"a": {"b": 1, "c": 2}}
    assert (base, over) == ({"a": {"b": 1}}, {"a": {"c": 2}})


@pytest.mark.parametrize(
    "spec",
    [
        "agent.step_limit=-2",
        "agent.cost_limit=-1",
        "agent.cost_limit=NaN",
        "agent.wall_time_limit_seconds=-1",
        "agent.max_consecutive_format_errors=-1",
    ],
)
def test_a_limit_is_not_negative(spec: str) -> None:
    """0 is none; less means nothing."""
    (fault,) = faults_of(spec)
    assert fault.startswith(f"-c {spec.partition('=')[0]}: ")


def test_a_key_of_digits_is_text() -> None:
    """Clients take no number as a header or a key; other values are what they look like."""
    config = load_config(
        [
            "model.model_kwargs.api_key=31415926",
            "model.model_kwargs.extra_headers.X-Auth=0271e5",
            "model.model_kwargs.extra_headers.X-Id=271",
            "model.model_kwargs.max_tokens=400",
        ]
    )
    assert {k: v for k, v in config.model.model_kwargs.items() if k != "drop_params"} == {
        "api_key": "31415926",
        "extra_headers": {"X-Auth": "0271e5", "X-Id": "271"},
        "max_tokens": 400,
    }
