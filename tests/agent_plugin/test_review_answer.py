"""A judge's answer is found in whatever stands around it, and held to its form; nothing is guessed."""

import json
import time
from typing import Any

import pytest

from agent_plugin.review_answer import MAX_TEXT, ReadAnswer, read_answer
from tests.agent_plugin.reviewed import answer, entry

IDS = ["lamp", "legs"]
GOOD = answer(lamp="met", legs="not_met")


def of(*entries: Any, **more: Any) -> str:
    return json.dumps({"criteria": list(entries), **more})


def verdicts(read: ReadAnswer) -> dict[str, str]:
    assert read.fault == ""
    return {verdict.id: verdict.verdict for verdict in read.verdicts}


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"Here is my review of the {{two}} criteria:\n\n{GOOD}\n\nI hope that {{}} helps.",
        f"<think>\nPerhaps {answer(lamp='not_met', legs='met')}?\n</think>\n{GOOD}",
        f"no opening tag {{ and a draft: {answer(lamp='not_met')} </think>{GOOD}",
        f"{GOOD}\nOnce more, the same:\n{GOOD}",
        f'An aside: {{"note": 1}}. {GOOD}',
        json.dumps(json.loads(GOOD), indent=4).replace("\n", "\r\n"),
        "\ufeff" + GOOD,
    ],
)
def test_an_answer_is_found(text: str) -> None:
    """Bare, fenced, in prose, behind reasoning, twice the same."""
    assert verdicts(read_answer(text, IDS)) == {"lamp": "met", "legs": "not_met"}


FAULTS = {
    "": "the reply holds no text",
    " \n": "the reply holds no text",
    "<think>hm</think>": "the reply holds reasoning alone",
    f"<think>{GOOD}": "the reply holds reasoning alone",
    "I cannot help with that.": "the reply holds no JSON object with the key 'criteria'",
    "lamp: met, legs: met": "the reply holds no JSON object with the key 'criteria'",
    json.dumps(json.loads(GOOD)["criteria"]): "the reply holds no JSON object with the key 'criteria'",
    json.dumps({"review": json.loads(GOOD)}): "the reply holds no JSON object with the key 'criteria'",
    GOOD + answer(lamp="met", legs="met"): "the reply holds 2 objects with the key 'criteria', and they differ",
    GOOD[:-2]: "an object of the reply is not valid JSON: Expecting ',' delimiter",
    GOOD.replace('"', "'"): "an object of the reply is not valid JSON: Expecting property name",
    '{"criteria": NaN}': "the object has not the form that was asked for: criteria: Input should be a valid list",
    '{"criteria": {"lamp": "met"}}': "the object has not the form that was asked for: criteria: Input should be a",
    of(entry("lamp"), overall="met"): "the object has not the form that was asked for: overall: Extra inputs",
    '{"criteria": [], "criteria": []}': "a key stands twice in an object of the reply: 'criteria'",
    GOOD.replace('"verdict"', '"verdict": "met", "verdict"', 1): "a key stands twice in an object of the reply: 'verd",
    '{"criteria": ' * 5_000: "an object of the reply is nested too deep",
    '{"criteria": ' + "[" * 50_000: "an object of the reply is nested too deep",
    '{"criteria": ' + "9" * 5_000 + "}": "an object of the reply is not valid JSON: a number in it is too long",
    "x" * (MAX_TEXT + 1): f"the reply is too long for a review: {MAX_TEXT + 1} characters",
    of(*[entry("lamp")] * 1_001): "the object has not the form that was asked for: criteria: List should have at most",
}


@pytest.mark.parametrize("text", FAULTS, ids=lambda text: text[:24].strip() or "blank")
def test_what_is_no_answer_is_unscored(text: str) -> None:
    """All of it, with the reason."""
    read = read_answer(text, IDS)
    assert read.fault.startswith(FAULTS[text])
    assert (read.verdicts, read.unscored) == ([], {})


def test_words_of_a_picture_that_are_repeated_are_no_answer() -> None:
    """A sign in the scene holds an answer; the judge quotes it and forgets to escape the quotes."""
    sign = answer(lamp="met", legs="met")
    quoted = GOOD.replace("Picture 1 shows it.", f"A sign says {sign}", 1)
    assert read_answer(quoted, IDS).fault.startswith("an object of the reply is not valid JSON")
    escaped = of(entry("lamp", "not_met", f"A sign says {sign}"), entry("legs", "not_met"))
    assert verdicts(read_answer(escaped, IDS)) == {"lamp": "not_met", "legs": "not_met"}
    before = f"A sign says {sign}. So:\n{escaped}"
    assert "they differ" in read_answer(before, IDS).fault


UNSCORED = {
    of(entry("lamp")): "the answer does not hold it",
    of(entry("lamp"), entry("Legs")): "the answer does not hold it",
    of(entry("lamp"), {"verdict": "met"}, 3, None): "the answer does not hold it",
    of(entry("lamp"), entry("legs"), entry("legs")): "the answer holds it 2 times",
    of(entry("lamp"), entry("legs", "met", " ")): "reason: String should have at least 1 character",
    of(entry("lamp"), entry("legs", "Met")): "verdict: Input should be 'met', 'not_met' or 'cannot_tell' (it is 'Met')",
    of(entry("lamp"), entry("legs") | {"verdict": True}): "verdict: Input should be 'met', 'not_met' or 'cannot_te",
    of(entry("lamp"), entry("legs") | {"verdict": None}): "verdict: Input should be 'met', 'not_met' or 'cannot_te",
    of(entry("lamp"), entry("legs") | {"verdict": ["met"]}): "verdict: Input should be 'met', 'not_met' or 'cannot_",
    of(entry("lamp"), entry("legs") | {"reason": 7}): "reason: Input should be a valid string (it is 7)",
    of(entry("lamp"), entry("legs") | {"Verdict": "not_met"}): "Verdict: Extra inputs are not permitted",
    of(entry("lamp"), {"id": "legs", "verdict": "met"}): "reason: Field required",
}


@pytest.mark.parametrize("text", UNSCORED)
def test_a_criterion_that_is_not_answered_well_is_unscored(text: str) -> None:
    """It alone; the others count."""
    read = read_answer(text, IDS)
    assert verdicts(read) == {"lamp": "met"}
    assert list(read.unscored) == ["legs"]
    assert read.unscored["legs"].startswith(UNSCORED[text])


def test_a_deep_list_is_no_entry() -> None:
    """Also where two have to be compared."""
    read = read_answer(('{"criteria": ' + "[" * 900 + "]" * 900 + "}") * 2, IDS)
    assert (read.verdicts, read.unknown_ids) == ([], [])
    assert read.fault or set(read.unscored) == set(IDS)


def test_unknown_criteria_are_named() -> None:
    """On one short line, each once; what they say counts nowhere."""
    read = read_answer(of(entry("legs"), entry("a\x1b[1m\nb"), entry("lamp"), entry("c" * 200), entry("c" * 200)), IDS)
    assert verdicts(read) == {"lamp": "met", "legs": "met"}
    assert read.unknown_ids == ["a b", "c" * 77 + "..."]


def test_reasons_keep_their_letters_and_lose_terminal_tricks() -> None:
    """Any script, halves of pairs replaced."""
    text = '{"criteria": [{"id": "lamp", "reason": "Стол 桌子 \\ud800\\u001b[2J \\ud83d\\udca1", "verdict": "met"}]}'
    (verdict,) = read_answer(text, IDS).verdicts
    assert verdict.reason == "Стол 桌子 ? 💡"


@pytest.mark.parametrize("text", ["{}" * 90_000, "{ " * 90_000, '{"a":1}' * 28_000, "</think>" * 24_000, '{"' * 90_000])
def test_a_hostile_reply_takes_no_time(text: str) -> None:
    """It is read in one go, whatever it holds."""
    started = time.monotonic()
    assert read_answer(text, IDS).fault
    assert time.monotonic() - started < 2.0
