"""Reads an episode back as something that can be played again: its steps, its settings, the conversation.

Nothing in the folder is written. What an episode says is not trusted: pictures and the start file are taken by their
hash from the folder alone, and the interpreter and the isolation are those of this machine.
"""

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from agent_plugin.environment import BlenderEnvironmentConfig
from agent_plugin.faults import bad_input
from agent_plugin.tasks import HIDDEN, Task
from harness.state_patch import check_patch
from recorder.errors import CorruptEpisode
from recorder.files import PINNED_FILES
from recorder.paths import EpisodePaths
from recorder.records import Action, End, FileReference, Header, ImagePart, Message, Part, Step
from recorder.trajectory import MAX_PATCH_BYTES, read_trajectory

_PATCH = re.compile(r"states/[0-9a-f]{64}\.json\.gz")
_PICTURE = re.compile(r"images/[0-9a-f]{64}\.[a-z]{1,8}")


@dataclass(frozen=True)
class SeenFrame:
    """A picture of an observation, and the line that stood before it."""

    caption: str
    picture: bytes


@dataclass(frozen=True)
class RecordedEpisode:
    """An episode as it was recorded."""

    paths: EpisodePaths
    header: Header
    steps: tuple[Step, ...]
    end: End | None
    """None where the run was killed."""
    task: Task
    """As it was pinned, the start file included."""
    environment: BlenderEnvironmentConfig
    """The agent's workplace; its `cwd` is for the one who plays."""

    @property
    def is_scene(self) -> bool:
        return self.header.task_kind == "scene"

    def step(self, number: int) -> Step:
        """Raises BadInput with the numbers that there are."""
        if not 1 <= number <= len(self.steps):
            has = f"it has the steps 1..{len(self.steps)}" if self.steps else "it has no step"
            raise bad_input(f"there is no step {number}: {has}", file=str(self.paths.root))
        return self.steps[number - 1]

    def conversation_before(self, number: int) -> list[dict[str, Any]]:
        """mini-swe-agent's messages as they were when step `number` asked the model, pictures included."""
        messages = [self._message(prompt, line=1, as_text=True) for prompt in self.header.prompts]
        for step in self.steps[: number - 1]:
            is_unusable = step.format_error is not None
            if not is_unusable or step.assistant.get("content"):  # the agent kept no empty reply
                messages.append(dict(step.assistant))
            messages += [self._message(o, line=step.seq + 1, as_text=is_unusable) for o in step.observations]
        return messages

    def frames(self, step: Step, position: int) -> list[SeenFrame]:
        """The pictures in the answer to the action at `position` of `step`."""
        if position >= len(step.observations):
            return []
        content = self._message(step.observations[position], line=step.seq + 1, as_text=False)["content"]
        return frames_in(content)

    def picture(self, part: ImagePart, line: int) -> bytes:
        """The bytes of a picture that stands in this line. Raises CorruptEpisode if they are not the recorded ones."""
        return self._stored(part, line, "picture", _PICTURE)

    def packed_patch(self, reference: FileReference, line: int) -> bytes:
        """The file of a state patch that stands in this line. Raises CorruptEpisode if it is not the recorded one."""
        return self._stored(reference, line, "state patch", _PATCH)

    def state_patch(self, reference: FileReference, line: int) -> dict[str, Any]:
        """What `harness.state_patch.patched` takes. Raises CorruptEpisode for a file that is damaged or no patch."""
        packed = self.packed_patch(reference, line)
        try:
            patch: dict[str, Any] = json.loads(_unpacked(packed))
            check_patch(patch)
        except (ValueError, RecursionError, zlib.error) as error:
            raise CorruptEpisode(self.paths.root / reference.path, None, f"cannot be used: {error}") from error
        return patch

    def check_states(self, number: int) -> None:
        """Raises CorruptEpisode if a state patch up to step `number` is damaged."""
        for step in self.steps[:number]:
            for execution in step.executions:
                if execution.state_patch:
                    self.state_patch(execution.state_patch, step.seq + 1)

    def _stored(self, reference: ImagePart | FileReference, line: int, what: str, name: re.Pattern[str]) -> bytes:
        if not name.fullmatch(reference.path):
            raise CorruptEpisode(self.paths.trajectory, line, f"'{reference.path}' is not the name of a {what}")
        path = self.paths.root / reference.path
        try:
            content = path.read_bytes()
        except OSError as error:
            why = f"its {what} '{reference.path}' cannot be read ({error.strerror})"
            raise CorruptEpisode(self.paths.trajectory, line, why) from error
        if hashlib.sha256(content).hexdigest() != reference.sha256:
            raise CorruptEpisode(path, None, f"not the {what} of line {line} (its hash differs)")
        return content

    def _message(self, message: Message, *, line: int, as_text: bool) -> dict[str, Any]:
        """`as_text`: prompts and words on an unusable reply were plain strings, answers to calls lists of parts."""
        content: Any = message.text if as_text else [self._part(part, line) for part in message.content]
        answered = {"tool_call_id": message.tool_call_id} if message.tool_call_id else {}
        return {"role": message.role, "content": content, **answered}

    def _part(self, part: Part, line: int) -> dict[str, Any]:
        if not isinstance(part, ImagePart):
            return {"type": "text", "text": part.text}
        data = base64.b64encode(self.picture(part, line)).decode()
        return {"type": "image_url", "image_url": {"url": f"data:{part.media_type};base64,{data}"}}


def read_episode(root: Path) -> RecordedEpisode:
    """The episode in a folder, finished or not.

    Raises BadInput for a folder that is none, CorruptEpisode for one that is damaged.
    """
    paths = EpisodePaths(root)
    if not root.is_dir():
        raise bad_input("there is no such folder", file=str(root))
    if not paths.trajectory.is_file():
        raise bad_input("not an episode: it holds no trajectory.jsonl", file=str(root))
    header, steps, end = _records(paths.trajectory)
    task = _pinned_task(paths, header)
    return RecordedEpisode(paths, header, steps, end, task, _environment(paths, header, task))


def frames_in(content: Sequence[dict[str, Any]]) -> list[SeenFrame]:
    """The pictures among the parts of a message."""
    frames, caption = [], ""
    for part in content:
        if part["type"] == "text":
            caption = part["text"].strip()
        else:
            frames.append(SeenFrame(caption, base64.b64decode(part["image_url"]["url"].partition(",")[2])))
    return frames


def argument_of(action: Action, kind: str) -> str | None:
    """The command, script or code of an action; None where there is none."""
    name = "command" if action.tool != "run_blender" else "code" if kind == "scene" else "script"
    value = action.arguments.get(name)
    return value if isinstance(value, str) else None


def _unpacked(packed: bytes) -> bytes:
    """What gzip made of it. Raises ValueError for more than a patch may hold: it never is in memory."""
    unpacking = zlib.decompressobj(wbits=31)
    content = unpacking.decompress(packed, MAX_PATCH_BYTES + 1)
    if len(content) > MAX_PATCH_BYTES:
        raise ValueError(f"it unpacks to more than {MAX_PATCH_BYTES >> 20} MiB")
    if not unpacking.eof or unpacking.unused_data:
        raise ValueError("it is not one whole gzip file")
    return content


def _records(path: Path) -> tuple[Header, tuple[Step, ...], End | None]:
    records = list(read_trajectory(path))
    if not records or not isinstance(records[0], Header):
        raise CorruptEpisode(path, 1, "the first line is no header")
    header, rest = records[0], records[1:]
    end = rest.pop() if rest and isinstance(rest[-1], End) else None
    steps: list[Step] = []
    for line, record in enumerate(rest, start=2):
        if not isinstance(record, Step):
            raise CorruptEpisode(path, line, f"a {record.kind} line among the steps")
        if record.step != len(steps) + 1:
            raise CorruptEpisode(path, line, f"step {record.step} where step {len(steps) + 1} was expected")
        for number, action in enumerate(record.actions, start=1):
            if not action.error and argument_of(action, header.task_kind) is None:
                raise CorruptEpisode(path, line, f"action {number} says nothing to run")
        steps.append(record)
    return header, tuple(steps), end if isinstance(end, End) else None


def _pinned_task(paths: EpisodePaths, header: Header) -> Task:
    """The task, if its files are still those that the header's hash names."""
    file = paths.task / "task.json"
    try:
        pinned: Any = json.loads(file.read_bytes())
        stated = {"start_file": None} | {key: value for key, value in pinned.items() if key != "sha256"}
        files = {key: paths.task / Path(name).name for key in PINNED_FILES if (name := stated.get(key))}
        contents = {key: file.read_bytes() for key, file in files.items()}
        hidden = {key: json.loads(contents[key]) for key in HIDDEN if key in contents}
        brief = (paths.task / "brief.md").read_text(encoding="utf-8")
    except (OSError, ValueError, AttributeError, TypeError, RecursionError) as error:
        raise CorruptEpisode(file, None, f"the pinned task cannot be read ({error})") from error
    hashed = stated | {key: hashlib.sha256(content).hexdigest() for key, content in contents.items()}
    # of what is written there, not of today's Task: that may know more keys
    found = hashlib.sha256(json.dumps(hashed, sort_keys=True).encode()).hexdigest()
    if found != header.task_sha256:
        why = f"not the task that was worked on: hash {found[:12]}…, recorded {header.task_sha256[:12]}…"
        raise CorruptEpisode(file, None, why)
    try:
        task = Task.model_validate(stated | {"start_file": files.get("start_file")} | hidden)
    except ValidationError as error:
        raise CorruptEpisode(file, None, f"the pinned task is not valid ({_first(error)})") from error
    if brief != f"{task.brief}\n":
        raise CorruptEpisode(paths.task / "brief.md", None, "not the brief of task.json")
    return task


def _environment(paths: EpisodePaths, header: Header, task: Task) -> BlenderEnvironmentConfig:
    recorded = header.config.get("environment")
    whole = recorded if isinstance(recorded, dict) else {}
    known = {key: value for key, value in whole.items() if key in BlenderEnvironmentConfig.model_fields}
    harness = known.get("harness")
    ours = {"bpy_python": "", "bpy_libs": "", "sandbox": "auto"}
    if isinstance(harness, dict):
        # paths of another machine mean nothing here, and an episode does not decide whether its code is isolated
        known["harness"] = harness | ours | ({"sandbox": "required"} if harness.get("sandbox") == "required" else {})
    fixed = {"cwd": "", "task_kind": header.task_kind, "start": task.step_start}
    try:
        return BlenderEnvironmentConfig.model_validate(known | fixed)
    except ValidationError as error:
        why = f"config.environment is not valid ({_first(error)})"
        raise CorruptEpisode(paths.trajectory, 1, why) from error


def _first(error: ValidationError) -> str:
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}".lstrip(": ")
