"""The scripted model goes through litellm like any other, and refuses to play on when reality differs."""

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import litellm
import pytest
import yaml

from agent_plugin.places import CONFIGS_DIR
from agent_plugin.scripted import register_scripted_provider
from agent_plugin.scripted_file import load_scripted, scripted_model
from agent_plugin.task_list import load_tasks
from tests.agent_plugin.conftest import CALLS_LITELLM, ScriptModel, bash

pytestmark = CALLS_LITELLM

Complete = Callable[..., Any]
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}


def asked(*replies: str, answer: Any = "") -> list[dict[str, Any]]:
    """A history in which the model has replied that often."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": "s"}, {"role": "user", "content": "make a film"}]
    for reply in replies:
        messages += [{"role": "assistant", "content": reply}, {"role": "user", "content": answer}]
    return messages


def complete(name: str, messages: list[dict[str, Any]]) -> Any:
    register_scripted_provider(name)
    return litellm.completion(model=name, messages=messages, tools=[])


def test_a_turn_arrives_whole(script_model: ScriptModel) -> None:
    """Text, reasoning, calls with ids of their own, finish reason and usage, in litellm's own types."""
    name = script_model({"text": "hello", "reasoning": "because", "calls": [bash("ls"), bash("pwd")]})
    response = complete(name, asked())
    message = response.choices[0].message
    assert (message.content, message.reasoning_content) == ("hello", "because")
    assert [(c.id, c.function.name, json.loads(c.function.arguments)) for c in message.tool_calls] == [
        ("call_1_1", "bash", {"command": "ls"}),
        ("call_1_2", "bash", {"command": "pwd"}),
    ]
    assert response.choices[0].finish_reason == "tool_calls"
    assert response.model == name
    assert response.usage.prompt_tokens > 0
    assert response.usage.total_tokens == response.usage.prompt_tokens + response.usage.completion_tokens


def test_the_request_says_which_turn_it_is(script_model: ScriptModel) -> None:
    """The number of replies in it; so a turn can be asked for again, and nothing is remembered."""
    name = script_model({"text": "one"}, {"text": "two"})
    texts = [complete(name, asked(*said)).choices[0].message.content for said in ([], ["x"], [], ["x"])]
    assert texts == ["one", "two", "one", "two"]


def test_the_same_request_gets_the_same_answer(script_model: ScriptModel) -> None:
    """To the id: replays can be compared."""
    name = script_model({"text": "one", "calls": [bash("ls")]})
    first, second = (complete(name, asked()) for _ in range(2))
    assert first.id == second.id
    assert first.choices[0].message == second.choices[0].message


def test_raw_arguments_are_sent_as_they_are(script_model: ScriptModel) -> None:
    """A malformed call can be played."""
    name = script_model({"calls": [{"tool": "bash", "raw_arguments": '{"command": '}], "finish_reason": "length"})
    choice = complete(name, asked()).choices[0]
    assert (choice.message.tool_calls[0].function.arguments, choice.finish_reason) == ('{"command": ', "length")


def test_the_price_is_known_to_be_nothing(script_model: ScriptModel, caplog: pytest.LogCaptureFixture) -> None:
    """litellm calculates 0, and warns of no price that is missing."""
    with caplog.at_level(logging.WARNING):
        name = script_model({"text": "one"})
        assert litellm.completion_cost(complete(name, asked()), model=name) == 0.0
    assert caplog.messages == []


def test_registering_twice_changes_nothing(script_model: ScriptModel) -> None:
    """Each episode makes a model of its own."""
    name = script_model({"text": "one"})
    register_scripted_provider(name)
    before = len(litellm.custom_provider_map)
    register_scripted_provider(name)
    assert len(litellm.custom_provider_map) == before


def refusal(name: str, messages: list[dict[str, Any]]) -> str:
    with pytest.raises(litellm.exceptions.BadRequestError) as caught:
        complete(name, messages)
    return str(caught.value)


def test_expected_text_must_have_been_answered(script_model: ScriptModel) -> None:
    """In the messages since the last reply, not before."""
    name = script_model({"text": "one"}, {"expect": ["RUN OK", "4 frames"], "text": "two"}, {"expect": ["RUN OK"]})
    answer = [{"type": "text", "text": "RUN OK\n"}, {"type": "text", "text": "4 frames"}]
    assert complete(name, asked("x", answer=answer)).choices[0].message.content == "two"
    assert "turn 2 expected '4 frames' in the answer, which is:\nRUN OK" in refusal(name, asked("x", answer="RUN OK"))
    assert "turn 3 expected 'RUN OK'" in refusal(name, [*asked("x", answer="RUN OK"), *asked("y", answer="no")[2:]])


@pytest.mark.parametrize("n", [0, 1, 2])
def test_expected_pictures_must_have_arrived(script_model: ScriptModel, n: int) -> None:
    """Exactly that many, in the messages since the last reply."""
    name = script_model({"text": "one"}, {"expect_images": 1, "text": "two"})
    messages = asked("x", answer=[{"type": "text", "text": "t"}, *[IMAGE] * n])
    if n == 1:
        assert complete(name, messages).choices[0].message.content == "two"
    else:
        assert f"turn 2 expected 1 pictures in the answer; there are {n}" in refusal(name, messages)


def test_there_are_only_so_many_turns(script_model: ScriptModel) -> None:
    """Asking for more is an error of the request, which is not tried again."""
    assert "has 1 turns; turn 2 was asked for" in refusal(script_model({"text": "one"}), asked("x"))


def test_the_brief_chooses_the_conversation(script_model: ScriptModel) -> None:
    """Exactly one has to fit."""
    name = script_model({"text": "ball"}, when="ball", more={"film": [{"text": "film"}]})
    assert complete(name, asked()).choices[0].message.content == "film"
    for brief, n in (("a ball in a film", 2), ("something", 0)):
        assert f"{n} conversations fit the task" in refusal(name, [{"role": "user", "content": brief}])


def test_names_lead_to_files(tmp_path: Path) -> None:
    """A bare name is one of ours, a .yaml the user's."""
    assert scripted_model("scripted/demo") == load_scripted(CONFIGS_DIR / "demo/scripted.yaml")
    for name in ("x.yaml", "x.yml"):
        (tmp_path / name).write_text(f"model: m\nconversations: [{{when: {name}, turns: [{{text: hi}}]}}]")
        assert scripted_model(f"scripted/{tmp_path}/{name}").conversations[0].when == name


def test_a_folder_of_tasks_has_its_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One file beside each task, played as one; a name that no folder has lists those that there are."""
    for task in ("b", "a"):
        (tmp_path / "tasks" / task).mkdir(parents=True)
        (tmp_path / "tasks" / task / "task.yaml").write_text("brief: x")
        (tmp_path / "tasks" / task / "right.yaml").write_text(
            f"model: m\nconversations: [{{when: {task}, turns: [{{text: hi}}]}}]"
        )
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo/scripted.yaml").write_text("")
    monkeypatch.setattr("agent_plugin.scripted_file.CONFIGS_DIR", tmp_path)
    whole = scripted_model("scripted/tasks/right")
    assert (whole.model, [c.when for c in whole.conversations]) == ("scripted/tasks/right", ["a", "b"])
    for name, looked_for in (("tasks/left", "tasks/*/left"), ("tasks/*", "tasks/*/*"), ("x/right", "x/*/right")):
        with pytest.raises(ValueError, match="No scripted model") as caught:
            scripted_model(f"scripted/{name}")
        shipped = "Shipped: scripted/demo, scripted/tasks/right."
        assert str(caught.value) == f"No scripted model: there is no configs/{looked_for}.yaml. {shipped}"
    (tmp_path / "tasks/b/right.yaml").write_text("model: m")
    load_scripted.cache_clear()
    with pytest.raises(ValueError, match=r"(?s)b/right\.yaml.*conversations"):
        scripted_model("scripted/tasks/right")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "No such file.*Shipped: scripted/demo"),
        ("model: x\nconversations: []", "at least 1 item"),
        ("model: x\nconversations: [{when: a, turns: [{txt: b}]}]", "txt"),
        ("a: [", "stream end"),
        ("", "valid dictionary"),
    ],
)
def test_a_file_that_cannot_be_played(tmp_path: Path, content: str | None, why: str) -> None:
    """It is refused with its name and the reason."""
    path = tmp_path / "turns.yaml"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ValueError, match=rf"(?s)turns\.yaml.*{why}"):
        load_scripted(path)


def test_the_demo_fits_its_tasks() -> None:
    """Each conversation answers to exactly one brief, and each brief has one."""
    briefs = [task.brief for task in load_tasks(CONFIGS_DIR / "demo/tasks.yaml")]
    script = scripted_model("scripted/demo")
    fits = [[conversation.when in brief for brief in briefs] for conversation in script.conversations]
    assert [sum(row) for row in fits] == [1] * len(script.conversations)
    assert [sum(column) for column in zip(*fits, strict=True)] == [1] * len(briefs)


def test_the_demo_makes_mistakes_and_hands_in() -> None:
    """Each conversation sees a failed run or step and a good one after it, and submits at its end."""
    raw = yaml.safe_load((CONFIGS_DIR / "demo/scripted.yaml").read_text())
    for conversation in raw["conversations"]:
        expected = [text for turn in conversation["turns"] for text in turn.get("expect", [])]
        failed = next(i for i, text in enumerate(expected) if text.startswith(("RUN FAILED", "STEP FAILED")))
        assert any(text.startswith(("RUN OK", "STEP OK")) for text in expected[failed:])
        (last,) = conversation["turns"][-1]["calls"][-1]["arguments"].values()
        assert "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT" in last
