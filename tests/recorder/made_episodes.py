"""Episodes made through TrajectoryWriter alone, finished or not: no agent, no Blender."""

import hashlib
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image

from harness.final_script import StepStart, final_script
from recorder.declared_checks import pinned_checks
from recorder.integrity_files import good_steps
from recorder.paths import EpisodePaths
from recorder.records import (
    Action,
    CheckScore,
    Cost,
    End,
    EpisodeSummary,
    Execution,
    Header,
    Message,
    Part,
    Request,
    Step,
    TextPart,
)
from recorder.redaction import Redactor
from recorder.trajectory import TrajectoryWriter

SCENE_TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "run_blender",
        "description": "Run Python code as the next step.",
        "parameters": {
            "type": "object",
            "properties": {"code": {"type": "string", "description": "Python source"}},
            "required": ["code"],
            "additionalProperties": False,
        },
    },
}
SHELL_TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "bash",
        "description": "Execute a command.",
        "parameters": {
            "type": "object",
            "properties": {"command": {"type": "string", "description": "The command"}},
            "required": ["command"],
            "additionalProperties": False,
        },
    },
}


@dataclass(frozen=True)
class Made:
    """One step to make: what the model says and runs, and what it is answered."""

    code: str
    says: str = "I go on."
    thinks: str = ""
    answer: str = "STEP OK\n"
    n_frames: int = 2
    ok: bool = True
    tool: str = "run_blender"
    raw: str | None = None
    """The arguments as written, where they are not `{"code": …}`."""
    is_twofold: bool = False
    """The reply makes the call twice; the second is answered `again`, without pictures."""


STEPS = (
    Made("import bpy\n", says="First the import.", thinks="I need bpy.", n_frames=0),
    Made("bpy.oops()\n", says="Now a ball.", answer="STEP FAILED: AttributeError\n", ok=False, n_frames=0),
    Made("bpy.ops.mesh.primitive_uv_sphere_add()\n", says="", thinks="It is `ops`."),
    Made("print('COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT')", says="Done.", answer="Submitted.\n", n_frames=0),
)
"""A scene of two good steps; the failed one is no part of its script."""


def picture(number: int) -> bytes:
    """A small JPEG, another one for each number."""
    file = io.BytesIO()
    Image.new("RGB", (56, 56), (number * 40 % 256, number * 90 % 256, 120)).save(file, "JPEG")
    return file.getvalue()


def make_episode(
    root: Path,
    steps: Sequence[Made] = STEPS,
    *,
    task_id: str = "ball",
    brief: str = "Make a red ball that lies on a wooden table in the evening sun.",
    model: str = "maker/one",
    verdict: str | None = "pass",
    tools: Sequence[dict[str, Any]] = (SCENE_TOOL,),
    kind: str = "scene",
    script: str | None = None,
    redactor: Redactor | None = None,
    checks: Sequence[dict[str, Any]] | None = None,
) -> Path:
    """The folder of an episode with these steps; `verdict` None: it never ended. `checks`: those that the task
    declares; all of them pass."""
    paths = EpisodePaths(root)
    root.mkdir(parents=True)
    sha256 = _pin_task(paths, task_id, brief, kind, checks)
    writer = TrajectoryWriter(paths, redactor or Redactor())
    writer.append(_header(task_id, sha256, model, list(tools), kind, brief))
    for number, made in enumerate(steps, start=1):
        writer.append(_step(writer, number, made))
    if verdict is None:
        writer.close()
        return root
    removed = {kind: n for kind, n in writer.redactor.counts.items() if n}
    writer.append(
        End(seq=writer.n_lines, exit_status="Submitted", submission="", redactions=removed, ended_at=_time(99))
    )
    writer.close()
    good = [(n, made.code) for n, made in enumerate(steps, start=1) if _takes_effect(made)]
    paths.final_script.write_text(script or final_script(StepStart(), good), encoding="utf-8")
    paths.scene.write_bytes(b"BLENDER-made\n")
    write_summary(root, task_id=task_id, model=model, verdict=verdict)
    return root


def write_summary(root: Path, *, task_id: str, model: str, verdict: str) -> None:
    """episode.json over what is there now."""
    lines = [json.loads(line) for line in (root / "trajectory.jsonl").read_text().splitlines()]
    files = ["trajectory.jsonl", "final_script.py", "scene.blend", "task/brief.md", "task/task.json"]
    final, score = _final_execution(root, lines, verdict)
    summary = EpisodeSummary(
        task_id=task_id,
        task_sha256=lines[0]["task_sha256"],
        model=model,
        attempt=1,
        exit_status="Submitted",
        verdict=verdict,  # type: ignore[arg-type]
        reason="submitted; the final execution found no error" if verdict == "pass" else "submitted; it failed",
        problems=[] if verdict == "pass" else ["does_not_replay"],
        final_execution=final,
        score=score,
        n_steps=len(lines) - 2,
        cost=Cost(usd=sum(line["cost"]["usd"] for line in lines[1:-1]), is_known=True),
        seconds=1.5,
        files={name: hashlib.sha256((root / name).read_bytes()).hexdigest() for name in files},
        finished_at=_time(99),
    )
    (root / "episode.json").write_text(summary.model_dump_json(indent=2) + "\n")


def _final_execution(root: Path, lines: list[dict[str, Any]], verdict: str) -> tuple[dict[str, Any], CheckScore | None]:
    """What a final execution records, as far as it is compared, and the score."""
    steps = [Step.model_validate(line) for line in lines[1:-1]]
    problem = {"code": "does_not_replay", "severity": "error", "message": "it failed", "where": None, "fix": None}
    final: dict[str, Any] = {"ok": verdict == "pass", "problems": [] if verdict == "pass" else [problem]}
    if lines[0]["task_kind"] == "scene":
        final["n_good_steps"] = len(good_steps(steps))
    declared = pinned_checks(root)
    if declared is None:
        return final, None
    results = [{"weight": 1.0, "required": True} | check | {"outcome": "pass"} for check in declared]
    scene = hashlib.sha256((root / "scene.blend").read_bytes()).hexdigest()
    final["checks"] = {"ok": True, "sha256": scene, "error": "", "checks": results}
    all_pass = CheckScore(
        is_strict_pass=True, weighted=1.0, judged_share=1.0, n_passed=len(results), failed=[], not_judged=[]
    )
    return final, all_pass


def make_run(root: Path, **episodes: dict[str, Any]) -> Path:
    """A run with an attempt of each task: `task_id=make_episode's arguments`."""
    root.mkdir(parents=True)
    (root / "run.json").write_text("{}\n")
    for task_id, arguments in episodes.items():
        folder = root / "episodes" / task_id / "maker--one" / arguments.pop("attempt", "1")
        make_episode(folder, task_id=task_id, **arguments)
    return root


def _pin_task(paths: EpisodePaths, task_id: str, brief: str, kind: str, checks: Sequence[dict[str, Any]] | None) -> str:
    stated: dict[str, Any] = {
        "id": task_id, "kind": kind, "brief": brief, "start": "factory", "harness": {}, "limits": {"steps": 0}
    }  # fmt: skip
    hashed = stated | {"start_file": None}
    paths.task.mkdir()
    if checks is not None:
        written = json.dumps(checks).encode()
        (paths.task / "checks.json").write_bytes(written)
        stated["checks"], hashed["checks"] = "checks.json", hashlib.sha256(written).hexdigest()
    sha256 = hashlib.sha256(json.dumps(hashed, sort_keys=True).encode()).hexdigest()
    (paths.task / "brief.md").write_text(brief + "\n", encoding="utf-8")
    (paths.task / "task.json").write_text(json.dumps(stated | {"sha256": sha256}, indent=2) + "\n")
    return sha256


def _header(task_id: str, sha256: str, model: str, tools: list[dict[str, Any]], kind: str, brief: str) -> Header:
    return Header(
        seq=0,
        task_id=task_id,
        task_kind=kind,
        task_sha256=sha256,
        model=model,
        attempt=1,
        prompts=[
            Message(role="system", content=[TextPart(text="You work in Blender.")]),
            Message(role="user", content=[TextPart(text=f"<task>\n{brief}\n</task>")]),
        ],
        tools=tools,
        config={"agent": {"step_limit": 40}},
        versions={"blendscribe": "0.1.0", "mini-swe-agent": "2.4.6", "bpy": "4.5.15"},
        sandbox_level="bwrap",
        started_at=_time(0),
    )


def _step(writer: TrajectoryWriter, number: int, made: Made) -> Step:
    raw = made.raw if made.raw is not None else json.dumps({"code": made.code})
    call: dict[str, Any] = {
        "id": f"call_{number}",
        "type": "function",
        "function": {"name": made.tool, "arguments": raw},
    }
    calls = [call, call | {"id": f"call_{number}_2"}] if made.is_twofold else [call]
    assistant: dict[str, Any] = {"role": "assistant", "content": made.says or None, "tool_calls": calls}
    if made.thinks:
        blocks = [{"type": "thinking", "thinking": made.thinks, "signature": "s1g"}]
        assistant |= {"reasoning_content": made.thinks, "thinking_blocks": blocks}
    content: list[Part] = [TextPart(text=made.answer)]
    for frame in range(made.n_frames):
        content += [
            TextPart(text=f"View {frame + 1}:\n"),
            writer.store_image(picture(number * 8 + frame), "image/jpeg"),
        ]
    facts: dict[str, Any] = {"number": number, "outcome": "ok" if made.ok else "step_error", "steps_lost": []}
    patch = {"version": 1, "scene": "Scene", "blocks": {f"Object/{number}": {"is": {"n": number}}}, "evaluated": {}}
    execution = Execution(
        tool=made.tool,
        returncode=0 if made.ok else 1,
        output=made.answer,
        seconds=0.25,
        blender=facts if made.tool == "run_blender" and not _submits(made) else None,
        state_patch=writer.store_state_patch(patch) if _takes_effect(made) else None,
    )
    return Step(
        seq=number,
        step=number,
        assistant=assistant,
        response_model="maker/one-0",
        finish_reason="tool_calls",
        actions=[Action(tool=made.tool, arguments={"code": made.code}, tool_call_id=call["id"]) for call in calls],
        executions=[execution, Execution(tool=made.tool, returncode=0, output="again", seconds=0.0)][: len(calls)],
        observations=[
            Message(role="tool", content=content, tool_call_id=f"call_{number}"),
            Message(role="tool", content=[TextPart(text="again")], tool_call_id=f"call_{number}_2"),
        ][: len(calls)],
        request=Request(
            model="maker/one",
            n_messages=2 * number,
            n_images=0,
            n_images_in_history=0,
            image_placement="native",
            sha256="00",
            parameters={"temperature": 1.0},
        ),
        usage={"prompt_tokens": 10 * number, "completion_tokens": 5, "total_tokens": 10 * number + 5},
        cost=Cost(usd=0.01, is_known=True),
        started_at=_time(number),
        model_seconds=0.5,
    )


def _submits(made: Made) -> bool:
    return "COMPLETE_TASK" in made.code


def _takes_effect(made: Made) -> bool:
    return made.ok and made.tool == "run_blender" and not _submits(made)


def _time(second: int) -> str:
    return f"2026-01-01T00:{second // 60:02}:{second % 60:02}+00:00"
