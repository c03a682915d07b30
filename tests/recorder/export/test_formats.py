"""Each format holds what the record holds. (What its consumer's own code makes of it: tests/consumers.)"""

import base64
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from recorder.export.canonical import PICTURE_LEFT_OUT
from recorder.export.dataset import Request, export
from recorder.export.formats import Options
from recorder.export.history import History
from recorder.export.listing import FORMATS
from recorder.export.openai import LEFT_OUT
from recorder.rows import ScriptRow, TrajectoryRow
from tests.recorder.made_episodes import SCENE_TOOL, SHELL_TOOL, STEPS, Made, make_episode, picture

FILM = (
    Made("", tool="bash", raw='{"command": "ls"}', n_frames=0),
    Made("", raw='{"script": "main.py"}', is_twofold=True),
    Made("", says="Done.", tool="bash", raw='{"command": "echo"}', n_frames=0),
)


def dataset(folder: Path, *steps: Made, **more: Any) -> tuple[Path, History]:
    """A data set of one episode with these steps, in every format."""
    options = more.pop("options", Options())
    episode = make_episode(folder / "e", steps or STEPS, **more)
    return folder / "data", export(Request((episode,), folder / "data", formats=tuple(FORMATS), options=options))


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def refused(history: History) -> dict[str, str]:
    """Format -> why it refused the one sample."""
    return {o.name: next(iter(o.refused.values())) for o in history.outcomes if o.refused}


def test_canonical_rows_are_valid(tmp_path: Path) -> None:
    """As their models have it, written without a null, equal after load."""
    root, _ = dataset(tmp_path)
    for name in ("agentic_trajectories", "agentic_trajectories_text"):
        (line,) = (root / f"train/{name}.jsonl").read_text().splitlines()
        assert "null" not in line
        assert TrajectoryRow.model_validate_json(line).id == "e"
    (line,) = (root / "train/instruction_to_script.jsonl").read_text().splitlines()
    row = ScriptRow.model_validate_json(line)
    assert row.form == "single-turn"
    assert row.messages[-1].content == (tmp_path / "e/final_script.py").read_text()


def test_a_scenes_calls_are_objects(tmp_path: Path) -> None:
    """One tool, one argument, reasoning always there, the last message the assistant's."""
    root, _ = dataset(tmp_path)
    (row,) = rows(root / "train/agentic_trajectories_text.jsonl")
    assert row["tools"] == [SCENE_TOOL]
    assert not (root / "train/agentic_trajectories_tools_text.jsonl").exists()
    replies = [message for message in row["messages"] if message["role"] == "assistant"]
    assert [reply["tool_calls"][0]["function"]["arguments"]["code"] for reply in replies] == [m.code for m in STEPS]
    assert [reply["reasoning_content"] for reply in replies] == ["I need bpy.", "", "It is `ops`.", ""]
    assert [message["role"] for message in row["messages"]] == [
        "system",
        "user",
        *["assistant", "tool"] * 3,
        "assistant",
    ]
    assert row["messages"][7]["content"] == f"STEP OK\nView 1:\n{PICTURE_LEFT_OUT}View 2:\n{PICTURE_LEFT_OUT}"


def test_a_multimodal_row_has_its_pictures_by_path(tmp_path: Path) -> None:
    """From the data set's folder, behind their captions, in the tool's answer."""
    root, _ = dataset(tmp_path)
    (row,) = rows(root / "train/agentic_trajectories.jsonl")
    assert all(isinstance(message["content"], list) for message in row["messages"])
    parts = row["messages"][7]["content"]
    assert [part["type"] for part in parts] == ["text", "text", "image", "text", "image"]
    assert (root / parts[2]["path"]).read_bytes() == picture(24)
    assert row["n_images"] == 2


def test_calls_of_several_tools_are_strings(tmp_path: Path) -> None:
    """In files of their own, as the model wrote them."""
    root, _ = dataset(tmp_path, *FILM, kind="video", tools=(SHELL_TOOL, SCENE_TOOL))
    (row,) = rows(root / "train/agentic_trajectories_tools.jsonl")
    assert json.loads(row["tools"]) == [SHELL_TOOL, SCENE_TOOL]
    assert row["messages"][2]["tool_calls"][0]["function"]["arguments"] == '{"command": "ls"}'
    assert not (root / "train/agentic_trajectories.jsonl").exists()


@pytest.mark.parametrize("raw", ["{", '{"cod": "x"}', '{"code": 3}', '{"code": "x", "more": null}'])
def test_a_malformed_call_gets_into_no_file_of_objects(tmp_path: Path, raw: str) -> None:
    """It would put nulls into the others."""
    root, _ = dataset(tmp_path, Made("", raw=raw, ok=False), STEPS[3])
    (row,) = rows(root / "train/agentic_trajectories_tools_text.jsonl")
    assert row["messages"][2]["tool_calls"][0]["function"]["arguments"] == raw


def test_an_episode_without_pictures_is_in_the_text_files_alone(tmp_path: Path) -> None:
    """Every row of a multimodal file has one."""
    root, history = dataset(tmp_path, STEPS[0], STEPS[3])
    assert not (root / "train/agentic_trajectories.jsonl").exists()
    assert len(rows(root / "train/agentic_trajectories_text.jsonl")) == 1
    assert refused(history) == {"vlm-flat": "it has no picture: the text files hold it"}


def test_forged_marks_in_answers_are_escaped(tmp_path: Path) -> None:
    """In the formats that templates render; the others keep the text."""
    root, history = dataset(tmp_path, Made("x = 1\n", answer="<image> </tool_response>\n"), STEPS[3])
    told = {outcome.name for outcome in history.outcomes if outcome.escaped.counts}
    assert told == {"canonical", "vlm-flat", "llamafactory", "parquet"}
    (row,) = rows(root / "train/agentic_trajectories_text.jsonl")
    assert row["messages"][3]["content"].startswith("< image> < /tool_response>\n")
    (row,) = rows(root / "formats/llamafactory/blendscribe.jsonl")
    assert sum(turn["value"].count("<image>") for turn in row["conversations"]) == len(row["images"]) == 2
    atif = json.loads((root / "formats/atif/e.json").read_text())
    assert atif["steps"][2]["observation"]["results"][0]["content"][0]["text"] == "<image> </tool_response>\n"


def test_forged_marks_in_code_refuse_the_row(tmp_path: Path) -> None:
    """In the same formats, and as a script; the record itself is exported."""
    root, history = dataset(tmp_path, Made("print('<image>')\n"), STEPS[3])
    assert set(refused(history)) == {"canonical", "instruction_to_script", "vlm-flat", "llamafactory", "parquet"}
    assert "the call of step 1 holds '<image>'" in refused(history)["canonical"]
    assert (root / "samples/e/trajectory.jsonl").is_file()
    assert "the call of step 1 holds" in (root / "README.md").read_text()


def test_flat_rows_have_everything_as_text(tmp_path: Path) -> None:
    """Tools in the system text, calls and thoughts in the reply, answers in tags of a user turn."""
    root, _ = dataset(tmp_path, *FILM, kind="video", tools=(SHELL_TOOL, SCENE_TOOL))
    (row,) = rows(root / "formats/vlm-flat/train.jsonl")
    assert [message["role"] for message in row["messages"]] == [
        "system",
        "user",
        *["assistant", "user"] * 2,
        "assistant",
    ]
    assert row["messages"][0]["content"][0]["text"].count('{"type": "function"') == 2
    calls = row["messages"][4]["content"][0]["text"]
    assert calls.count('<tool_call>\n{"name": "run_blender", "arguments": {"script": "main.py"}}\n</tool_call>') == 2
    answers = row["messages"][5]["content"]
    assert [part["type"] for part in answers] == ["text", "image", "text", "image", "text"]
    assert answers[-1]["text"] == "\n</tool_response>\n<tool_response>\nagain\n</tool_response>"
    assert [part for part in answers if part["type"] == "image"] == [{"type": "image"}] * 2
    assert all((root / path).is_file() for path in row["images"])


def test_flat_rows_without_a_column_name_their_pictures(tmp_path: Path) -> None:
    """For axolotl: no `images` at all."""
    root, _ = dataset(tmp_path, options=Options(images_column=False))
    (row,) = rows(root / "formats/vlm-flat/train.jsonl")
    assert "images" not in row
    parts = [part for message in row["messages"] for part in message["content"] if part["type"] == "image"]
    assert all((root / part["path"]).is_file() for part in parts)
    assert len(parts) == 2


def test_llamafactory_calls_are_one_and_turns_alternate(tmp_path: Path) -> None:
    """Parallel calls are a list, their answers one observation."""
    root, _ = dataset(tmp_path, *FILM, kind="video", tools=(SHELL_TOOL, SCENE_TOOL))
    (row,) = rows(root / "formats/llamafactory/blendscribe.jsonl")
    froms = [turn["from"] for turn in row["conversations"]]
    assert froms == ["human", *["function_call", "observation"] * 2, "function_call"]
    call = row["conversations"][3]["value"]
    assert len(json.loads(call.split("<tool_call>")[1].removesuffix("</tool_call>"))) == 2
    assert row["conversations"][4]["value"].endswith("<image>\nagain")
    info = json.loads((root / "formats/llamafactory/dataset_info.json").read_text())
    assert (root / "formats/llamafactory" / info["blendscribe"]["file_name"]).is_file()


def test_atif_keeps_the_end_of_the_conversation(tmp_path: Path) -> None:
    """Also the answer to the last call, costs, and what did not parse."""
    root, _ = dataset(tmp_path, Made("", raw="{", ok=False), STEPS[3])
    atif = json.loads((root / "formats/atif/e.json").read_text())
    assert [step["step_id"] for step in atif["steps"]] == [1, 2, 3, 4]
    assert atif["steps"][2]["tool_calls"][0]["arguments"] == {"unparsed": "{"}
    assert atif["steps"][3]["observation"]["results"][0]["content"] == "Submitted.\n"
    assert atif["final_metrics"] == {
        "total_prompt_tokens": 30, "total_completion_tokens": 10, "total_steps": 4, "total_cost_usd": 0.02
    }  # fmt: skip


def test_openai_rows_have_strings_and_at_most_ten_pictures(tmp_path: Path) -> None:
    """In user messages behind all answers to a reply; the first ones are left out, and that is said."""
    root, _ = dataset(tmp_path, *(Made(f"x = {n}\n", n_frames=3, is_twofold=n == 0) for n in range(4)), STEPS[3])
    (row,) = rows(root / "formats/openai/train.jsonl")
    pictures = [
        part["image_url"]["url"]
        for message in row["messages"]
        for part in (message["content"] if isinstance(message["content"], list) else [])
        if part["type"] == "image_url"
    ]
    assert len(pictures) == 10
    assert base64.b64decode(pictures[-1].partition(",")[2]) == picture(4 * 8 + 2)
    assert sum(str(message["content"]).count(LEFT_OUT.strip()) for message in row["messages"]) == 2
    assert [m["role"] for m in row["messages"]][:7] == [
        "system",
        "user",
        "assistant",
        "tool",
        "tool",
        "user",
        "assistant",
    ]
    assert row["messages"][2]["tool_calls"][0]["function"]["arguments"] == '{"code": "x = 0\\n"}'


def test_sts_sessions_are_text(tmp_path: Path) -> None:
    """A header, then camel-cased messages with string arguments."""
    root, _ = dataset(tmp_path)
    header, *messages = rows(root / "formats/sts/e.jsonl")
    assert header == {"type": "session", "harness": "blendscribe", "id": "e", "name": "ball"}
    assert messages[2]["message"]["reasoningContent"] == "I need bpy."
    assert messages[2]["message"]["toolCalls"][0]["function"]["arguments"] == '{"code": "import bpy\\n"}'
    assert messages[3]["message"]["toolCallId"] == "call_1"
    assert messages[2]["message"]["timestamp"] == 1767225601000


def test_gym_rows_are_items_of_the_responses_api(tmp_path: Path) -> None:
    """Flat tools, calls with string arguments, answers as text with the pictures behind them."""
    root, _ = dataset(tmp_path)
    (row,) = rows(root / "formats/nemo-gym/train.jsonl")
    params = row["responses_create_params"]
    assert params["tools"][0]["name"] == "run_blender"
    kinds = [item["type"] for item in params["input"]]
    assert kinds[:6] == ["message", "message", "reasoning", "message", "function_call", "function_call_output"]
    shown = next(item for item in params["input"] if item.get("role") == "user" and isinstance(item["content"], list))
    assert [part["type"] for part in shown["content"]] == ["input_text", "input_image"] * 2


def test_parquet_holds_the_pictures(tmp_path: Path) -> None:
    """Their bytes, in order of the marks; no path of this machine."""
    root, _ = dataset(tmp_path)
    (row,) = pq.read_table(root / "formats/parquet/train.parquet").to_pylist()
    assert [image["bytes"] for image in row["images"]] == [picture(24), picture(25)]
    assert "/" not in row["images"][0]["path"]
    assert sum(message["content"].count("<image>") for message in row["messages"]) == 2


def test_minis_own_inspector_opens_its_form(tmp_path: Path) -> None:
    """It makes pages of the messages; arguments are strings, pictures paths that exist."""
    root, _ = dataset(tmp_path)
    path = root / "formats/traj/e.traj.json"
    content = json.loads(path.read_text())
    assert content["trajectory_format"] == "mini-swe-agent-1.1"
    assert content["messages"][-1]["role"] == "exit"
    assert content["info"]["model_stats"] == {"instance_cost": 0.04, "api_calls": 4}
    images = [part for m in content["messages"] if isinstance(m["content"], list) for part in m["content"]]
    assert all((path.parent / part["path"]).is_file() for part in images if part["type"] == "image")


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_a_row_of_a_plain_episode(tmp_path: Path, name: str) -> None:
    """None refuses what is in order."""
    _, history = dataset(tmp_path)
    outcome = next(outcome for outcome in history.outcomes if outcome.name == name)
    assert (outcome.n_rows, outcome.refused) == (1, {})


def test_a_tool_of_another_shape_gets_into_no_file_of_objects(tmp_path: Path) -> None:
    """A schema with a key more would put nulls into the others' schemas."""
    other = {"type": "function", "function": SCENE_TOOL["function"] | {"strict": True}}
    root, _ = dataset(tmp_path, tools=(other,))
    (row,) = rows(root / "train/agentic_trajectories_tools.jsonl")
    assert json.loads(row["tools"]) == [other]
