"""A review as a person reads it: a row a criterion, and what could not be scored below."""

from rich import box
from rich.table import Table
from rich.text import Text

from agent_plugin.review import Reviewed, counted
from agent_plugin.spending import dollars
from harness.plain_text import one_line, plain
from recorder.rubric_review import CriterionResult, JudgeAnswer, ModelReview

_WORDS = {"met": "met", "not_met": "not met", "cannot_tell": "cannot tell", None: "unscored"}
_COLORS = {"met": "green", "not_met": "red"}
_MAX_REASON = 300


def criteria_table(review: ModelReview) -> Table:
    """Criterion, verdicts of all answers, pairs of them that agree, and a reason of one that says what most say."""
    table = Table(box=box.MINIMAL, pad_edge=False, header_style="bold")
    for title in ("criterion", "weight", "verdicts", "agreement", "reason"):
        is_number = title in ("weight", "agreement")
        table.add_column(title, justify="right" if is_number else "left", overflow="fold")
    for result in review.results:
        table.add_row(
            result.criterion.id,
            f"{result.criterion.weight:g}",
            _verdicts(result),
            "" if result.agreement is None else f"{result.agreement:.0%}",
            Text(_reason(result, review)),
        )
    return table


def lines_before(outcome: Reviewed) -> list[str]:
    """Which episode, and what became of reviews that were there."""
    return ["", f"{outcome.episode.root}", *(f"  note: {note}" for note in outcome.notes)]


def lines_after(outcome: Reviewed) -> list[str]:
    """The figures, what was not sent, what is unscored, and why answers are missing."""
    review, lines = outcome.review, []
    if review and review.answers:
        lines += [_figures(review, outcome.n_new), *_not_sent(review), *_unscored(review)]
    if outcome.error:
        lines.append(f"  no answer: {plain(outcome.error)}")
    return lines


def _verdicts(result: CriterionResult) -> Text:
    """`met 2, not met 1`, in the order of how many."""
    counts = {verdict: result.verdicts.count(verdict) for verdict in dict.fromkeys(result.verdicts)}
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    text = ", ".join(_WORDS[v] if len(result.verdicts) == 1 else f"{_WORDS[v]} {n}" for v, n in ordered)
    return Text(text, style=_COLORS.get(result.majority or "", "yellow"))


def _reason(result: CriterionResult, review: ModelReview) -> str:
    """Of the first answer that says what most say; of a tie, the first that says anything."""
    given = [v for answer in review.answers if (v := answer.verdict_on(result.criterion.id))]
    fitting = [v for v in given if v.verdict == result.majority] or given
    if not fitting:
        return next((why for answer in review.answers if (why := _why(answer, result.criterion.id))), "")
    reason = one_line(fitting[0].reason)
    return reason if len(reason) <= _MAX_REASON else f"{reason[: _MAX_REASON - 3]}..."


def _why(answer: JudgeAnswer, criterion: str) -> str:
    return answer.fault or answer.unscored.get(criterion, "")


def _figures(review: ModelReview, n_new: int) -> str:
    score = "none" if review.score is None else f"{review.score:.2f}"
    kappa = "" if review.kappa is None else f"; Fleiss' kappa {review.kappa:.2f}"
    costs = [answer.cost for answer in review.answers]
    total = dollars(sum(cost.usd for cost in costs)) if all(cost.is_known for cost in costs) else "unknown"
    return (
        f"{review.model}: score {score} over {review.judged_share:.0%} of the weight, from "
        f"{counted(len(review.answers), 'answer')} ({n_new} new){kappa}; cost {total}"
    )


def _not_sent(review: ModelReview) -> list[str]:
    left_out = {tuple(files): len(answer.images) for answer in review.answers if (files := review.left_out(answer))}
    return [
        f"  {n_sent} of {len(review.renders)} pictures were sent; not: {', '.join(map(plain, files))}"
        for files, n_sent in left_out.items()
    ]


def _unscored(review: ModelReview) -> list[str]:
    """Each answer that could not be read whole."""
    lines = []
    for number, answer in enumerate(review.answers, start=1):
        if answer.fault:
            lines.append(f"  answer {number} is unscored: {plain(answer.fault)}")
        lines += [f"  answer {number}, {id}: unscored, {plain(why)}" for id, why in answer.unscored.items()]
        if answer.unknown_ids:
            lines.append(f"  answer {number} names criteria that there are not: {', '.join(answer.unknown_ids)}")
    return lines
