"""How the answers of a live Blender are read, which a step's code could have written."""

import base64
from typing import Any

import pytest

from harness.settings import HarnessSettings
from harness.step_answers import Answer, failure_of, views_note, views_of

SETTINGS = HarnessSettings(exec_timeout=7, memory_mb=900)
VIEW = {"label": "front", "frame": 3, "jpeg": base64.b64encode(b"x").decode(), "width": 4, "height": 2}


@pytest.mark.parametrize(
    ("end", "outcome"),
    [("timeout", "timeout"), ("memory", "out_of_memory"), ("disk", "limit"), ("files", "limit"), ("ended", "crash")],
)
def test_a_session_that_is_gone(end: str, outcome: str) -> None:
    """Why it was stopped is how the step failed."""
    found, reason, error = failure_of(None, Answer({}, end, ""), SETTINGS)
    assert (found, error) == (outcome, None)
    assert reason


@pytest.mark.parametrize(
    ("failed", "outcome", "word"),
    [
        ({"fate": "timeout"}, "timeout", "7 s"),
        ({"fate": "out_of_memory"}, "out_of_memory", "900 MiB"),
        ({"fate": "crash", "signal": 11}, "crash", "SIGSEGV"),
        ({"fate": "crash", "signal": "eleven"}, "crash", "signal eleven"),
        ({"fate": "no_result"}, "no_result", "os._exit"),
        ({"refused": "sys.exit"}, "refused", "sys.exit"),
        ({"error": 5}, "step_error", "it failed"),
    ],
)
def test_what_the_session_says_of_a_step(failed: dict[str, Any], outcome: str, word: str) -> None:
    """Its fate, with the limit that was passed; nonsense is a failure without words."""
    found, reason, _ = failure_of(failed, Answer({}, "until", ""), SETTINGS)
    assert found == outcome
    assert word in reason


@pytest.mark.parametrize("odd", [None, 5, "x", {}, {**VIEW, "jpeg": "?"}, {**VIEW, "width": "wide"}, {"label": "a"}])
def test_pictures_that_are_none(odd: Any) -> None:
    """Are passed over; the others stay."""
    assert views_of(odd) == []
    assert [view.jpeg for view in views_of([odd, VIEW])] == [b"x"]


def test_names_in_labels_and_notes_are_harmless() -> None:
    """One line without control characters, of bounded length."""
    name = "a\x1b[31m\nb" + "c" * 999
    (view,) = views_of([{**VIEW, "label": name}])
    for text in (view.label, views_note([{"note": name}, 5, VIEW])):
        assert text.isprintable()
        assert 100 < len(text) <= 300
