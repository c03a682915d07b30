"""A review over HTTP, through every provider's format: what arrives, what comes of faults, and that no key is kept."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from agent_plugin.loopback.injected import FaultKind, InjectedFault
from agent_plugin.loopback.server import LoopbackServer, loopback
from agent_plugin.models.routes import FAMILY_CLASSES
from agent_plugin.review import _alone_in
from agent_plugin.scripted_file import ScriptedFile
from recorder.documents import read_document
from recorder.rubric_review import REVIEW, ModelReview, RubricReviewFile
from tests.agent_plugin.conftest import CALLS_LITELLM
from tests.agent_plugin.reviewed import N_PICTURES, answer, blendscribe, make_episode
from tests.routes.ways import WAYS, Way

pytestmark = [CALLS_LITELLM, pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")]

KEY = "canary-1618033988749894"
GOOD = answer(lamp="met", legs="not_met")
LIMITS = {"groq": 5}
BLIND = "deepseek"
LIST_BESIDE = "ollama"
"""Its messages hold pictures in a list beside the text."""
SILENT = {"openai", "azure", "mistral", "cohere"}
"""Providers whose chat completions show no reasoning, or whose reasoning litellm drops."""


@pytest.fixture(scope="module")
def server() -> Iterator[LoopbackServer]:
    turns = [{"text": GOOD, "reasoning": "I looked at the pictures."}]
    script = {"model": "scripted/review", "conversations": [{"when": "A lamp stands on the desk.", "turns": turns}]}
    with loopback(ScriptedFile.model_validate(script), key=KEY) as server:
        yield server


@pytest.fixture(autouse=True)
def quiet(server: LoopbackServer) -> None:
    server.inject()
    server.forget()


def arguments(server: LoopbackServer, folder: Path, way: Way, **settings: object) -> list[object]:
    """-m and -c for a route."""
    route = server.route(way.provider)
    chosen = {"model_class": FAMILY_CLASSES[way.family]} if way.family else {}
    model = {"model_kwargs": dict(route.kwargs), "retry_seconds": 0, **chosen, **settings}
    config = folder / "model.yaml"
    config.write_text(yaml.safe_dump({"model": model}))
    return ["-m", route.model, "-c", config]


def review_of(episode: Path) -> ModelReview:
    (review,) = read_document(episode / REVIEW, RubricReviewFile).reviews
    return review


@pytest.mark.parametrize("way", [way for way in WAYS if way.provider != BLIND], ids=lambda way: way.name)
def test_every_route_carries_a_review(server: LoopbackServer, tmp_path: Path, way: Way) -> None:
    """Each picture arrives behind its caption, as many as the record says; no tool is offered; the answer is scored."""
    episode = make_episode(tmp_path / "e")
    ended = blendscribe(episode, *arguments(server, tmp_path, way))
    assert (ended.returncode, ended.stderr) == (0, ""), ended.stdout
    (exchange,) = server.exchanges
    assert exchange.request is not None
    seen, n = exchange.request.images, LIMITS.get(way.provider, N_PICTURES)
    assert [image.place for image in seen] == ["user message"] * n
    captions = [f"Picture {k} of {n} (" for k in range(1, n + 1)]
    if way.provider == LIST_BESIDE:
        text = exchange.request.messages[-1].text
        assert sorted(captions, key=text.index) == captions
    else:
        assert [image.caption[: len(captions[0])] for image in seen] == captions
    assert exchange.request.tools == ()
    assert [message.role for message in exchange.request.messages] == ["system", "user"]
    assert "How to call a tool" not in exchange.request.messages[0].text
    assert not {"tools", "toolConfig", "tool_choice"} & set(exchange.body)

    review = review_of(episode)
    (one,) = review.answers
    assert [image.image.sha256 for image in seen] == [image.sha256 for image in one.images]
    assert (one.request.n_images, one.request.n_images_on_wire) == (n, n)
    assert len(review.left_out(one)) == N_PICTURES - n
    assert (f"{n} of {N_PICTURES} pictures were sent" in ended.stdout) == (n < N_PICTURES)
    assert (review.score, review.judged_share, one.text) == (0.75, 1.0, GOOD)
    is_silent = way.provider in SILENT and exchange.path.endswith(("/completions", "/chat"))
    assert one.reasoning == ("" if is_silent else "I looked at the pictures.")
    assert review.parameters == {}
    assert KEY not in (episode / REVIEW).read_text() + ended.stdout


def test_a_route_without_pictures_is_refused(server: LoopbackServer, tmp_path: Path) -> None:
    """Nothing is asked of a model that would not see."""
    ended = blendscribe(make_episode(tmp_path / "e"), *arguments(server, tmp_path, Way(BLIND)))
    assert (ended.returncode, server.exchanges) == (2, [])
    assert "takes no pictures on its route; a review needs a model that sees" in ended.stderr


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("unauthorized", "AuthenticationFailed"),
        ("rate_limit", "RateLimited"),
        ("server_error", "ProviderFailed"),
        ("malformed", "UnusableAnswer"),
        ("cut", "ConnectionLost"),
        ("context_window", "ContextWindowExceeded"),
        ("content_policy", "ContentPolicyViolation"),
    ],
)
def test_a_failed_call_is_no_answer(server: LoopbackServer, tmp_path: Path, kind: FaultKind, told: str) -> None:
    """Status 1, told in its class, nothing recorded but the answers before it; the same command completes them."""
    episode = make_episode(tmp_path / "e")
    given = [episode, *arguments(server, tmp_path, Way("openai")), "--repeat", 3]
    assert blendscribe(*given[:-2]).returncode == 0
    server.inject(InjectedFault(kind=kind, times=99, message=f"not with {KEY}" if kind == "unauthorized" else ""))
    ended = blendscribe(*given)
    assert ended.returncode == 1
    assert f"no answer: {told}" in ended.stdout
    assert KEY not in ended.stdout + ended.stderr
    assert len(review_of(episode).answers) == 1
    server.inject()
    assert blendscribe(*given).returncode == 0
    assert len(review_of(episode).answers) == 3


@pytest.mark.parametrize("way", [Way("openai"), Way("anthropic"), Way("gemini"), Way("openai-responses")], ids=str)
@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        ("refusal", "the model declined, or its provider held the reply back"),
        ("length", "the reply reached the output limit; raise model.model_kwargs.max_tokens"),
    ],
)
def test_a_reply_that_is_none_is_kept_and_unscored(
    server: LoopbackServer, tmp_path: Path, way: Way, kind: FaultKind, fault: str
) -> None:
    """It was answered, so it is not asked again."""
    episode = make_episode(tmp_path / "e")
    server.inject(InjectedFault(kind=kind))
    given = [episode, *arguments(server, tmp_path, way)]
    assert blendscribe(*given).returncode == 1
    assert [one.fault for one in review_of(episode).answers] == [fault]
    assert blendscribe(*given).returncode == 1
    assert len(server.exchanges) == 1


def test_a_provider_that_wants_fewer_pictures(server: LoopbackServer, tmp_path: Path) -> None:
    """It is sent seven, takes five, and gets half; the record says which, and later requests keep to that."""
    episode = make_episode(tmp_path / "e")
    ended = blendscribe(episode, *arguments(server, tmp_path, Way("groq"), max_images=7), "--repeat", 2)
    assert ended.returncode == 0, ended.stdout
    first, second = review_of(episode).answers
    arrived = [exchange.request.images for exchange in server.exchanges if exchange.request and exchange.turn]
    for answered, seen in ((first, arrived[0]), (second, arrived[1])):
        assert len(seen) == answered.request.n_images == answered.request.n_images_on_wire == 3
        assert [image.image.sha256 for image in seen] == [image.sha256 for image in answered.images]
    assert [retry.kind for retry in first.request.retries] == ["too_many_images"]
    assert second.images[0].file == "0_hero.png"


def test_two_commands_do_not_review_one_episode(server: LoopbackServer, tmp_path: Path) -> None:
    """The second one says so, and asks nothing."""
    episode = make_episode(tmp_path / "e")
    with _alone_in(episode):
        ended = blendscribe(episode, *arguments(server, tmp_path, Way("openai")))
    assert (ended.returncode, server.exchanges) == (1, [])
    assert "no answer: another command is reviewing this episode" in ended.stdout


def test_ctrl_c_keeps_what_was_answered(server: LoopbackServer, tmp_path: Path) -> None:
    """The call that is waited for is given up at once; status 130; the same command goes on."""
    episode = make_episode(tmp_path / "e")
    given = [episode, *arguments(server, tmp_path, Way("openai")), "--repeat", 2]
    server.inject(InjectedFault(kind="stall", request=2, times=99))
    words = [sys.executable, "-c", "from agent_plugin.cli import main\nmain()", "review", *map(str, given), "--json"]
    with subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        try:
            ends_at = time.monotonic() + 90
            while len(server.exchanges) < 2 and time.monotonic() < ends_at:
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=10)
        finally:
            process.kill()
    assert (process.returncode, "Stopping; what was answered is kept" in err) == (130, True)
    (told,) = json.loads(out)
    assert (told["n_new_answers"], told["error"]) == (1, "stopped by the user")
    assert len(review_of(episode).answers) == 1
    server.inject()
    assert blendscribe(*given).returncode == 0
    assert len(review_of(episode).answers) == 2
