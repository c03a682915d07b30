"""The lines of a trajectory and the files of an episode, as models: what is stored is a fact, totals are properties.

`trajectory.jsonl` holds one `Header`, then a `Step` for each model call, then one `End`. `kind` tells them apart.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

SCHEMA_VERSION = 1


class Record(BaseModel):
    """Unknown fields are refused: a reader that does not know them must not pretend to."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class TextPart(Record):
    """Text of a message."""

    type: Literal["text"] = "text"
    text: str


class ImagePart(Record):
    """A picture of a message; the bytes are in the episode's folder."""

    type: Literal["image"] = "image"
    path: str
    """Relative to the episode: `images/<sha256>.<ending>`."""
    sha256: str
    media_type: str
    n_bytes: int


Part = Annotated[TextPart | ImagePart, Field(discriminator="type")]


class Message(Record):
    """A message to the model, whole and in order."""

    role: Literal["system", "user", "tool"]
    content: list[Part]
    tool_call_id: str | None = None

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.content if isinstance(part, TextPart))

    @property
    def images(self) -> list[ImagePart]:
        return [part for part in self.content if isinstance(part, ImagePart)]


class Action(Record):
    """A parsed tool call."""

    tool: str
    arguments: dict[str, Any]
    tool_call_id: str | None
    error: str | None = None
    """Why it was not run (unknown tool, malformed arguments)."""


class FileReference(Record):
    """A file in the episode's folder."""

    path: str
    """Relative to the episode: `states/<sha256>.json.gz`."""
    sha256: str
    n_bytes: int


class Execution(Record):
    """What came of one action."""

    tool: str
    returncode: int | None
    """Exit status: of the command, or 0 for a good and 1 for a failed run."""
    output: str
    exception: str = ""
    seconds: float
    blender: dict[str, Any] | None = None
    """Everything the harness measured (ExecutionResult.to_json), for run_blender."""
    state_patch: FileReference | None = None
    """For a step of a scene that took effect: what leads on from the state recorded before it (`state_patch.py` has the
    form). None for one that could not be measured, and in episodes from before there were patches."""


class Cost(Record):
    """What a model call cost; unknown is not zero."""

    usd: float
    is_known: bool
    source: Literal["", "provider", "prices"] = ""
    """Told by the provider with the answer, or worked out from a list of prices. Empty: unknown, or an older record."""


class TokenCount(Record):
    """Tokens of an episode's model calls, as the providers counted them."""

    prompt: int
    completion: int
    """Reasoning included, where the provider counts it so."""
    n_calls_unknown: int = 0
    """Calls whose provider told no count: they are in neither number."""

    @property
    def total(self) -> int:
        return self.prompt + self.completion


class Retry(Record):
    """An attempt of a model call that failed, after which the model was asked again."""

    kind: str
    """The class of the failure (docs/reference.md lists them)."""
    wait_seconds: float
    """How long was waited then."""
    error: str


class Request(Record):
    """What was sent to the provider for a step: with the history, enough to make the request again."""

    model: str
    n_messages: int
    n_images: int
    """Pictures in the request."""
    n_images_in_history: int
    image_placement: Literal["native", "followup", "drop"]
    sha256: str
    """Of the prepared messages as canonical JSON."""
    parameters: dict[str, Any] = {}
    family: str = ""
    """Which class called the model. Empty here and below: an older record."""
    dialect: Literal["", "chat", "responses", "text"] = ""
    image_window: int = 0
    """Results whose pictures were to stay; 0: all."""
    image_slack: int = 1
    max_images: int | None = None
    """Pictures that the request might hold: the setting, the provider's limit, or half of what was refused."""
    max_images_per_message: int | None = None
    cache_marks: Literal["none", "message", "part"] = "none"
    keeps_reasoning: bool = True
    n_images_on_wire: int | None = None
    """Pictures in the body that was posted, counted there. None: the client does not show it."""
    n_bytes: int | None = None
    """Of that body."""
    retries: list[Retry] = []
    """Attempts before the one that was answered."""


class Parent(Record):
    """Where an episode branches off: its steps before `step` are that episode's own, as they were recorded there."""

    episode: str
    """Its folder: `<task>/<model>/<attempt>` of a run, else its name alone."""
    trajectory_sha256: str
    """Of its trajectory, which tells it wherever it lies."""
    step: int


class Isolation(Record):
    """What stood between the model's code and the machine, as measured by an attack from inside."""

    allowed: str | None
    """The weakest level that the run allows; None where nothing asked."""
    measured: str
    could: dict[str, bool]
    """Attempt to get out -> whether it succeeded."""


class Header(Record):
    """First line: everything that was fixed before the first model call."""

    kind: Literal["header"] = "header"
    seq: int
    schema_version: int = SCHEMA_VERSION
    task_id: str
    task_kind: str
    task_sha256: str
    model: str
    attempt: int
    prompts: list[Message]
    tools: list[dict[str, Any]]
    config: dict[str, Any]
    """Resolved; secrets removed."""
    versions: dict[str, str]
    sandbox_level: str
    started_at: str
    parent: Parent | None = None
    """Set for a replay."""
    isolation: Isolation | None = None
    """None in episodes from before it was measured."""


class Step(Record):
    """One model call, its actions, and what they came to."""

    kind: Literal["step"] = "step"
    seq: int
    step: int
    """From 1."""
    assistant: dict[str, Any]
    """The provider's message whole: text, reasoning with its blocks, raw tool calls."""
    response_model: str | None
    finish_reason: str | None
    actions: list[Action]
    executions: list[Execution]
    observations: list[Message]
    request: Request | None
    usage: dict[str, Any] | None
    cost: Cost
    started_at: str
    model_seconds: float
    format_error: str | None = None
    """Set when the reply held no usable call at all."""

    @property
    def tool_seconds(self) -> float:
        return sum(execution.seconds for execution in self.executions)


class End(Record):
    """Last line: why the episode ended."""

    kind: Literal["end"] = "end"
    seq: int
    exit_status: str
    submission: str
    error: str = ""
    """The cause, where the machine or the provider failed."""
    redactions: dict[str, int]
    ended_at: str


Line = Annotated[Header | Step | End, Field(discriminator="kind")]
LINE: TypeAdapter[Header | Step | End] = TypeAdapter(Line)

Verdict = Literal["pass", "fail", "infrastructure"]


class CheckScore(Record):
    """What the task's declared checks came to; `harness/checks/score.py` has the formulas. Check ids are in order."""

    is_strict_pass: bool
    """Every required check passes: without it the verdict is no pass."""
    weighted: float | None
    """In 0..1; None where nothing could be judged."""
    judged_share: float
    """In 0..1: how much of the declared work `weighted` stands for."""
    n_passed: int
    failed: list[str]
    not_judged: list[str]

    @property
    def n_failed(self) -> int:
        return len(self.failed)


class EpisodeSummary(Record):
    """`episode.json`: the episode's outcome, and the index that lists of episodes are made from."""

    schema_version: int = SCHEMA_VERSION
    task_id: str
    task_sha256: str
    model: str
    attempt: int
    exit_status: str
    verdict: Verdict
    """`pass`: submitted, the harness's own final execution found no error, and every required check passes."""
    reason: str
    problems: list[str]
    """Codes found by the final execution."""
    final_execution: dict[str, Any] | None
    """All that was measured; under `checks` the whole report of the declared checks, where a scene was handed in."""
    score: CheckScore | None = None
    """None where the task declares no checks."""
    n_steps: int
    cost: Cost
    tokens: TokenCount | None = None
    """None in episodes from before they were counted."""
    seconds: float
    files: dict[str, str]
    """Name -> SHA-256 of what the episode folder holds beside images, state patches and this file."""
    finished_at: str
