"""Asks a model about episodes: question, answer, record. Each answer is on disk before the next question.

A failure of the provider is no answer: nothing is recorded, and the same command asks again for what is missing. An
answer that cannot be read is one, and stays: asking until one can be read would be choosing.
"""

import fcntl
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any

from minisweagent.exceptions import InterruptAgentFlow

from agent_plugin.agent import now
from agent_plugin.config import RunConfig
from agent_plugin.faults import bad_input
from agent_plugin.keys import hide_keys
from agent_plugin.models.deadline import Stopped
from agent_plugin.models.failure_text import one_line
from agent_plugin.models.history import OUTPUT
from agent_plugin.models.mixin import Reply
from agent_plugin.review_answer import ReadAnswer, read_answer
from agent_plugin.review_input import Reviewable, read_reviews
from agent_plugin.review_request import chosen, image_limit, images_sent, messages_for, prompt_sha256
from recorder.config_secrets import secrets_in, without_secrets
from recorder.export.conversation import spoken
from recorder.records import Cost, Request
from recorder.redaction import Redactor
from recorder.rubric_review import REVIEW, JudgeAnswer, ModelReview, RubricReviewFile, SentImage, why_stale
from recorder.trajectory import write_atomically

_NOT_OF_SAMPLING = ("api_base", "base_url", "api_version", "timeout", "drop_params", "extra_headers", "headers")
"""Parameters that say where a model is and how it is reached; so do those of AWS and Vertex, and keys."""
_REACHED_BY = ("aws_", "vertex_", "azure_")
_MAX_ERROR = 600


@dataclass
class Reviewed:
    """What came of one episode."""

    episode: Reviewable
    review: ModelReview | None = None
    """With the answers from before. None: there is none at all."""
    n_new: int = 0
    notes: list[str] = field(default_factory=list)
    error: str = ""
    """Why answers are missing."""

    @property
    def is_good(self) -> bool:
        return not self.error and self.review is not None and self.review.is_scored_whole


@dataclass(frozen=True)
class Judge:
    """A model, and how often it is asked about each episode."""

    model: str
    config: RunConfig
    n_answers: int
    stopped: Event = field(default_factory=Event)

    def make(self) -> Any:
        """A model to ask. Imports litellm. Raises BadInput for one that cannot be made, or cannot be shown pictures."""
        from minisweagent.models import get_model, get_model_class

        settings = self.config.model
        try:
            get_model_class("", settings.model_class)
        except ValueError as error:
            why = f"cannot be imported (it is '{settings.model_class}')"
            raise bad_input(why, place="model.model_class") from error
        made: Any = get_model(self.model, settings.for_mini("scene"))
        if made.policy.placement == "drop":
            raise bad_input("takes no pictures on its route; a review needs a model that sees", file=f"-m {self.model}")
        made.tools = []
        made.is_stopped = self.stopped.is_set
        return made


def review_all(
    episodes: Sequence[Reviewable], judge: Judge, *, n_workers: int, say: Callable[[Reviewed], None]
) -> list[Reviewed]:
    """Every episode, in their order; `say` is told of each when it is done, by the caller's thread. Raises BadInput."""
    hide_keys()
    judge.make()  # litellm must not be imported by two threads at once, and what is wrong is told before any call
    done: dict[int, Reviewed] = {}
    waiting = list(enumerate(episodes))
    with ThreadPoolExecutor(max_workers=n_workers, thread_name_prefix="review") as pool:
        running: dict[Future[Reviewed], int] = {}
        while (waiting and not judge.stopped.is_set()) or running:
            while waiting and len(running) < n_workers and not judge.stopped.is_set():
                number, episode = waiting.pop(0)
                running[pool.submit(_review, episode, judge)] = number
            # a short wait, so that the main thread can take Ctrl-C
            for future in wait(running, timeout=0.2, return_when=FIRST_COMPLETED).done:
                done[running.pop(future)] = future.result()
                say(future.result())
    for number, episode in waiting:
        done[number] = Reviewed(episode, error="not begun: stopped by the user")
    return [done[number] for number in sorted(done)]


def _review(episode: Reviewable, judge: Judge) -> Reviewed:
    """Ask for the answers that are missing."""
    outcome = Reviewed(episode)
    try:
        with _alone_in(episode.root):
            _ask_for_missing(episode, judge, outcome)
    except Stopped:
        outcome.error = "stopped by the user"
    except Exception as error:  # noqa: BLE001 - the one place where a failure of machine or provider is caught
        outcome.error = _told(error, judge)
    return outcome


def _ask_for_missing(episode: Reviewable, judge: Judge, outcome: Reviewed) -> None:
    model = judge.make()
    empty = _without_answers(episode, judge, model)
    outcome.review, others = _before(read_reviews(episode.root), empty, episode, outcome.notes)
    while len(outcome.review.answers) < judge.n_answers:
        if judge.stopped.is_set():
            raise Stopped
        answer = _ask(episode, model, _redactor(judge))
        outcome.review = outcome.review.model_copy(update={"answers": [*outcome.review.answers, answer]})
        _write(episode.root, RubricReviewFile(reviews=[*others, outcome.review]))
        outcome.n_new += 1


def _without_answers(episode: Reviewable, judge: Judge, model: Any) -> ModelReview:
    """The review as it is before the first answer."""
    return ModelReview(
        model=judge.model,
        parameters=sampling_parameters(model.config.model_kwargs, _redactor(judge)),
        prompts_sha256=prompt_sha256(),
        max_images=image_limit(model.policy),
        rubric=episode.rubric,
        rubric_sha256=episode.rubric_sha256,
        scene_sha256=episode.renders.scene_sha256,
        renders=episode.pictures,
        answers=[],
    )


def _before(
    there: RubricReviewFile, empty: ModelReview, episode: Reviewable, notes: list[str]
) -> tuple[ModelReview, list[ModelReview]]:
    """(the review to go on with, those that stay beside it). What is replaced or stale is told in `notes`."""
    own, others = empty, []
    for review in there.reviews:
        stale, n = why_stale(review, episode.rubric_sha256, episode.renders), len(review.answers)
        if review.is_asked_like(empty) and not stale:
            own = review
        elif review.model == empty.model and stale:
            notes.append(f"replaced: {counted(n, 'answer')} of {review.model}, as {stale} than then")
        else:
            others.append(review)
            if stale:
                notes.append(
                    f"stale, and left as it is: {counted(n, 'answer')} of {review.model}, as {stale} than then"
                )
            elif review.model == empty.model:
                notes.append(
                    f"beside it: {counted(n, 'answer')} of {review.model} to another prompt, or with other parameters"
                )
    return own, others


def counted(n: int, noun: str) -> str:
    """`1 answer`, `2 answers`."""
    return f"{n} {noun}{'s' * (n != 1)}"


def sampling_parameters(model_kwargs: dict[str, Any], redactor: Redactor) -> dict[str, Any]:
    """Of a model's parameters those that shape its answers, without secrets."""
    kept = {
        name: value
        for name, value in without_secrets(model_kwargs).items()
        if name not in _NOT_OF_SAMPLING
        and not name.startswith(_REACHED_BY)
        and not (isinstance(value, str) and value.startswith("[removed"))
    }
    cleaned: dict[str, Any] = redactor.clean(kept)
    return cleaned


def _ask(episode: Reviewable, model: Any, redactor: Redactor) -> JudgeAnswer:
    """One answer. Raises what the model's classes raise where there is none."""
    pictures = [episode.read(render) for render in chosen(episode.pictures, image_limit(model.policy))]
    messages = messages_for(episode.rubric, pictures, episode.renders.engine, episode.renders.notes)
    asked_at, started = now(), time.monotonic()
    reply, extra = model.reply_to(messages)
    images = images_sent(messages, pictures, model.policy)
    request = Request.model_validate(extra["request"])
    reasoning, text = spoken(reply.message)
    reasoning = reasoning or _summaries(reply.message)
    read = _unseen(images, request) or _unsaid(reply, text, reasoning) or read_answer(text, episode.rubric.ids)
    facts = {
        "text": text,
        "reasoning": reasoning,
        "fault": read.fault,
        "verdicts": [verdict.model_dump() for verdict in read.verdicts],
        "unscored": read.unscored,
        "unknown_ids": read.unknown_ids,
        "images": [image.model_dump() for image in images],
        "finish_reason": reply.finish_reason,
        "response_model": reply.model,
        "usage": reply.usage,
        "cost": Cost(usd=extra["cost"], is_known=extra["cost_is_known"], source=extra["cost_source"]).model_dump(),
        "request": request.model_dump(mode="json"),
        "asked_at": asked_at,
        "seconds": round(time.monotonic() - started, 3),
    }
    return JudgeAnswer.model_validate(_storable(redactor.clean_texts(facts)))


def _unseen(images: Sequence[SentImage], request: Request) -> ReadAnswer | None:
    """A fault where the model was not shown what it was asked about."""
    arrived = request.n_images if request.n_images_on_wire is None else request.n_images_on_wire
    if request.n_images == len(images) <= arrived:
        return None
    n = min(arrived, request.n_images)
    return ReadAnswer(fault=f"only {n} of {len(images)} pictures were in the body that was posted")


def _unsaid(reply: Reply, text: str, reasoning: str) -> ReadAnswer | None:
    """A fault where the reply, as a reply, holds no whole answer."""
    if reply.finish_reason == "content_filter":
        return ReadAnswer(fault="the model declined, or its provider held the reply back")
    if reply.is_cut_off:
        return ReadAnswer(fault="the reply reached the output limit; raise model.model_kwargs.max_tokens")
    if text.strip():
        return None
    if reply.calls or reply.problem:
        return ReadAnswer(fault="the reply calls a tool instead of answering; none was offered")
    return ReadAnswer(fault="the reply holds reasoning alone" if reasoning else "the reply holds no text")


def _summaries(message: dict[str, Any]) -> str:
    """Of the reasoning items of a Responses API answer."""
    items = [item for item in message.get(OUTPUT) or [] if item.get("type") == "reasoning"]
    return "\n".join(str(part.get("text") or "") for item in items for part in item.get("summary") or [])


def _storable(value: Any) -> Any:
    """Texts without half surrogate pairs, which JSON can spell and no file can hold."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_storable(key): _storable(member) for key, member in value.items()}
    return [_storable(member) for member in value] if isinstance(value, list) else value


@contextmanager
def _alone_in(root: Path) -> Iterator[None]:
    """Nobody else reviews this episode meanwhile: both would write the same file. Raises OSError, BlockingIOError."""
    folder = (root / REVIEW).parent
    folder.mkdir(exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def _write(root: Path, reviews: RubricReviewFile) -> None:
    write_atomically(root / REVIEW, (reviews.model_dump_json(indent=1) + "\n").encode())


def _redactor(judge: Judge) -> Redactor:
    return Redactor.for_this_machine(secrets=secrets_in(judge.config.model_dump(mode="json")))


def _told(error: Exception, judge: Judge) -> str:
    if isinstance(error, BlockingIOError):
        return "another command is reviewing this episode"
    if isinstance(error, InterruptAgentFlow):
        extra = error.messages[0].get("extra", {})
        text = f"{extra.get('exit_status', '')}: {extra.get('error', '')}"
    else:
        text = one_line(error)
    cleaned: str = _redactor(judge).clean(text)
    return cleaned[:_MAX_ERROR]
