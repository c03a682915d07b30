"""What answers come to is derived; a review says what it is about, and when it no longer is."""

from typing import Any

import pytest
from pydantic import ValidationError

from recorder.json_schemas import schema
from recorder.records import Cost, Request
from recorder.rubric import Criterion, Rubric
from recorder.rubric_review import (
    CriterionVerdict,
    JudgeAnswer,
    Judgement,
    ModelReview,
    RubricReviewFile,
    SentImage,
    pictures_of,
    reviewed,
    why_stale,
)
from recorder.verification import Render, RendersFile

RUBRIC = Rubric(criteria=(Criterion(id="a", text="A", weight=3), Criterion(id="b", text="B")))
REQUEST = Request(model="m", n_messages=2, n_images=1, n_images_in_history=1, image_placement="followup", sha256="00")


def render(file: str, kind: str, **more: Any) -> Render:
    facts = {"file": file, "kind": kind, "label": file, "width": 8, "height": 8, "sha256": f"of {file}"}
    return Render.model_validate(facts | more)


RENDERS = RendersFile(
    scene_sha256="5c",
    engine="workbench",
    renders=[
        *(render("h.png", "hero"), render("t.png", "turntable")),
        *(render("s.png", "sheet"), render("a.mp4", "animation")),
    ],
    notes=[],
)


def said(**verdicts: Judgement) -> JudgeAnswer:
    """An answer with these verdicts; what is left out is unscored."""
    return JudgeAnswer(
        text="{}",
        verdicts=[CriterionVerdict(id=id, reason="r", verdict=v) for id, v in verdicts.items()],
        unscored={id: "the answer does not hold it" for id in RUBRIC.ids if id not in verdicts},
        images=[SentImage(file="h.png", sha256="of h.png")],
        finish_reason="stop", response_model="m", usage=None, cost=Cost(usd=0, is_known=False), request=REQUEST,
        asked_at="2026-01-01T00:00:00+00:00", seconds=1.0,
    )  # fmt: skip


def review(*answers: JudgeAnswer, **more: Any) -> ModelReview:
    facts: dict[str, Any] = {
        "model": "m", "parameters": {"temperature": 1}, "prompts_sha256": "00", "max_images": None, "rubric": RUBRIC,
        "rubric_sha256": "aa", "scene_sha256": "5c", "renders": reviewed(RENDERS), "answers": list(answers),
    }  # fmt: skip
    return ModelReview.model_validate(facts | more)


def test_it_survives_dump_and_load() -> None:
    """And refuses what it does not know."""
    file = RubricReviewFile(reviews=[review(said(a="met", b="not_met"), said())])
    assert RubricReviewFile.model_validate_json(file.model_dump_json()) == file
    with pytest.raises(ValidationError, match="surprise"):
        RubricReviewFile.model_validate(file.model_dump() | {"surprise": 1})


def test_its_schema_takes_what_is_written() -> None:
    """For other people's tools."""
    import jsonschema

    written = RubricReviewFile(reviews=[review(said(a="met"))]).model_dump(mode="json")
    jsonschema.Draft202012Validator(schema("rubric_review")).validate(written)


def test_what_three_answers_come_to() -> None:
    """Fractions over the answers that score a criterion; the score weighs criteria."""
    made = review(said(a="met", b="not_met"), said(a="met", b="cannot_tell"), said(a="not_met"))
    a, b = made.results
    assert (a.verdicts, a.fraction_met, a.majority, a.n_scored) == (("met", "met", "not_met"), 2 / 3, "met", 3)
    assert (b.verdicts, b.fraction_met, b.majority, b.n_scored) == (("not_met", "cannot_tell", None), 0.0, None, 1)
    assert a.agreement == pytest.approx(1 / 3)
    assert b.agreement == 0.0
    assert made.score == pytest.approx((3 * 2 / 3 + 1 * 0) / 4)
    assert made.judged_share == 1.0
    assert not made.is_scored_whole
    assert made.figures()["criteria"][1]["verdicts"] == ["not_met", "cannot_tell", None]


def test_what_is_unscored_is_no_fail() -> None:
    """It is left out of the score, and the judged share says so."""
    made = review(said(a="met", b="cannot_tell"))
    assert (made.score, made.judged_share, made.is_scored_whole) == (1.0, 0.75, False)
    nothing = review(said(), said(a="cannot_tell", b="cannot_tell"))
    assert (nothing.score, nothing.judged_share, nothing.kappa) == (None, 0.0, None)
    assert (review().score, review().is_scored_whole) == (None, False)


def test_answers_that_agree() -> None:
    """Kappa 1, and everything is scored."""
    made = review(said(a="met", b="not_met"), said(a="met", b="not_met"))
    assert (made.kappa, made.score, made.is_scored_whole) == (1.0, 0.75, True)


def test_which_pictures_an_answer_was_not_shown() -> None:
    """Of those that could be sent: neither the sheet nor the film is one."""
    assert [picture.file for picture in pictures_of(RENDERS)] == ["h.png", "t.png"]
    made = review(said())
    assert made.left_out(made.answers[0]) == ["t.png"]


@pytest.mark.parametrize(
    ("rubric_sha256", "change", "why"),
    [
        ("aa", {}, ""),
        ("bb", {}, "the rubric is another one"),
        ("aa", {"scene_sha256": "5d"}, "the scene that was drawn is another one"),
        ("aa", {"renders": [render("h.png", "hero")]}, "the renders are others"),
        ("aa", {"renders": [render("h.png", "hero", sha256="new"), *RENDERS.renders[1:]]}, "the renders are others"),
        ("aa", {"renders": [render("h.png", "hero", label="new"), *RENDERS.renders[1:]]}, "the renders are others"),
        ("aa", {"notes": ["a word"], "renders": [*RENDERS.renders, render("2.mp4", "animation")]}, ""),
    ],
)
def test_when_a_review_is_stale(rubric_sha256: str, change: dict[str, Any], why: str) -> None:
    """Where the rubric, the scene, or a picture or label that a judge sees is another one."""
    assert why_stale(review(), rubric_sha256, RENDERS.model_copy(update=change)) == why


@pytest.mark.parametrize(
    "change",
    [{"model": "n"}, {"parameters": {}}, {"prompts_sha256": "11"}, {"max_images": 5}],
    ids=lambda c: next(iter(c)),
)
def test_answers_to_another_question_are_not_mixed(change: dict[str, Any]) -> None:
    """Model, parameters, prompt and number of pictures make the judge."""
    assert review().is_asked_like(review(said()))
    assert not review().is_asked_like(review(**change))
