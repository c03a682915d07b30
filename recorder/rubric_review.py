"""`verification/rubric_review.json`: what models that saw the harness's renders and the rubric said of each criterion.

A model's answers stand beside those of other models, and so do its answers to another prompt or with other parameters.
An answer is stored as it came, with what was read from it; agreement and score are derived. What could not be read is
*unscored*: it counts neither for nor against the scene.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from recorder.agreement import fleiss_kappa, pairs_that_agree
from recorder.records import SCHEMA_VERSION, Cost, Record, Request
from recorder.rubric import Criterion, CriterionId, Rubric
from recorder.verification import Render, RenderKind, RendersFile

RUBRIC, RENDERS, REVIEW = "task/rubric.json", "renders/renders.json", "verification/rubric_review.json"
"""Relative to an episode."""
PICTURES: tuple[RenderKind, ...] = ("hero", "shot", "frame", "turntable", "elevation")
"""Kinds of renders that a judge can be shown, those that tell most first. A film cannot be sent, its frames stand for
it; the sheet holds the same pictures again, smaller."""

Judgement = Literal["met", "not_met", "cannot_tell"]
"""cannot_tell: the pictures do not show it. It is no score, and no fail."""


class CriterionVerdict(Record):
    """What one answer says of one criterion."""

    id: CriterionId
    reason: str
    verdict: Judgement


class SentImage(Record):
    """A picture of a request."""

    file: str
    sha256: str


class JudgeAnswer(Record):
    """One answer, whole, and what was read from it."""

    text: str
    """As the model wrote it."""
    reasoning: str = ""
    """Of the model, where its provider shows it. Nothing is read from it."""
    fault: str = ""
    """Why nothing of the answer is scored. Empty: see `verdicts` and `unscored`."""
    verdicts: list[CriterionVerdict] = Field(default_factory=list)
    """In the order of the rubric."""
    unscored: dict[str, str] = Field(default_factory=dict)
    """Criterion -> why this answer has no verdict on it."""
    unknown_ids: list[str] = Field(default_factory=list)
    """Criteria in the answer that the rubric does not have."""
    images: list[SentImage]
    """In the order in which they were sent."""
    finish_reason: str | None
    response_model: str | None
    usage: dict[str, Any] | None
    cost: Cost
    request: Request
    asked_at: str
    seconds: float

    def verdict_on(self, criterion: str) -> CriterionVerdict | None:
        """None where it is unscored."""
        return next((verdict for verdict in self.verdicts if verdict.id == criterion), None)


class ReviewedRender(Record):
    """A picture of `renders.json`, as it was when the model was asked."""

    file: str
    kind: RenderKind
    label: str
    frame: int | None
    sha256: str


@dataclass(frozen=True)
class CriterionResult:
    """What all answers come to for one criterion. Derived."""

    criterion: Criterion
    verdicts: tuple[Judgement | None, ...]
    """One an answer; None: unscored."""

    @property
    def given(self) -> list[Judgement]:
        return [verdict for verdict in self.verdicts if verdict is not None]

    @property
    def n_met(self) -> int:
        return self.verdicts.count("met")

    @property
    def n_scored(self) -> int:
        """Answers that say met or not met."""
        return self.n_met + self.verdicts.count("not_met")

    @property
    def fraction_met(self) -> float | None:
        """Of the answers that score it; None where none does."""
        return self.n_met / self.n_scored if self.n_scored else None

    @property
    def majority(self) -> Judgement | None:
        """What most of the answers with a verdict say; None for a tie, or no verdict."""
        counts = {verdict: self.given.count(verdict) for verdict in set(self.given)}
        most = [verdict for verdict, count in counts.items() if count == max(counts.values())]
        return most[0] if len(most) == 1 else None

    @property
    def agreement(self) -> float | None:
        """Pairs of answers that say the same; None for fewer than two verdicts."""
        return pairs_that_agree(self.given)


class ModelReview(Record):
    """The answers of one model, asked in one way about one rubric and one set of renders."""

    model: str
    parameters: dict[str, Any]
    """Of sampling, as far as they were set; where the model is and how it is reached is not among them."""
    prompts_sha256: str
    """Of the template that the question was made from."""
    max_images: int | None
    """Pictures that a request might hold, by the model's route or its config. None: no limit is known."""
    rubric: Rubric
    rubric_sha256: str
    """Of `task/rubric.json`."""
    scene_sha256: str
    """Of the .blend that was drawn."""
    renders: list[ReviewedRender]
    """Every picture that could have been sent."""
    answers: list[JudgeAnswer]

    def is_asked_like(self, other: "ModelReview") -> bool:
        """Whether answers of both are answers to the same question by the same judge."""
        return self._asked == other._asked

    @property
    def _asked(self) -> tuple[Any, ...]:
        return self.model, self.parameters, self.prompts_sha256, self.max_images

    def left_out(self, answer: JudgeAnswer) -> list[str]:
        """The pictures that this answer's model was not shown."""
        sent = {image.file for image in answer.images}
        return [render.file for render in self.renders if render.file not in sent]

    @property
    def results(self) -> list[CriterionResult]:
        """In the order of the rubric."""
        return [_result(criterion, self.answers) for criterion in self.rubric.criteria]

    @property
    def kappa(self) -> float | None:
        """Fleiss' kappa over the criteria (agreement.py has the formula)."""
        return fleiss_kappa([result.given for result in self.results])

    @property
    def score(self) -> float | None:
        """Weighted mean of `fraction_met` over the criteria that are scored; None where none is. In 0..1."""
        scored = [(r.criterion.weight, r.fraction_met) for r in self.results if r.fraction_met is not None]
        return sum(w * met for w, met in scored) / sum(w for w, _ in scored) if scored else None

    @property
    def judged_share(self) -> float:
        """The weight of the criteria that are scored, of all weight."""
        weights = {result.criterion.id: result.criterion.weight for result in self.results}
        return sum(weights[r.criterion.id] for r in self.results if r.n_scored) / sum(weights.values())

    @property
    def is_scored_whole(self) -> bool:
        """Whether there are answers, and each says met or not met of each criterion."""
        return bool(self.answers) and all(result.n_scored == len(self.answers) for result in self.results)

    def figures(self) -> dict[str, Any]:
        """All that is derived, as JSON."""
        return {
            "n_answers": len(self.answers),
            "score": self.score,
            "judged_share": self.judged_share,
            "kappa": self.kappa,
            "criteria": [
                {
                    "id": result.criterion.id,
                    "weight": result.criterion.weight,
                    "verdicts": list(result.verdicts),
                    "majority": result.majority,
                    "fraction_met": result.fraction_met,
                    "agreement": result.agreement,
                }
                for result in self.results
            ],
        }


class RubricReviewFile(Record):
    """All reviews of an episode."""

    schema_version: int = SCHEMA_VERSION
    reviews: list[ModelReview] = Field(default_factory=list)


def pictures_of(renders: RendersFile) -> list[Render]:
    """The renders that a judge can be shown, in their order."""
    return [render for render in renders.renders if render.kind in PICTURES]


def reviewed(renders: RendersFile) -> list[ReviewedRender]:
    """The same, as a review keeps them."""
    return [
        ReviewedRender(file=r.file, kind=r.kind, label=r.label, frame=r.frame, sha256=r.sha256)
        for r in pictures_of(renders)
    ]


def why_stale(review: ModelReview, rubric_sha256: str, renders: RendersFile) -> str:
    """Why a review says nothing of the episode as it is now; '' where it does."""
    if review.rubric_sha256 != rubric_sha256:
        return "the rubric is another one"
    if review.scene_sha256 != renders.scene_sha256:
        return "the scene that was drawn is another one"
    if review.renders != reviewed(renders):
        return "the renders are others"
    return ""


def _result(criterion: Criterion, answers: Sequence[JudgeAnswer]) -> CriterionResult:
    found = [answer.verdict_on(criterion.id) for answer in answers]
    return CriterionResult(criterion, tuple(verdict.verdict if verdict else None for verdict in found))
