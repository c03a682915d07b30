"""Verifications made by hand, in the folder of an episode that no Blender made."""

import hashlib
from pathlib import Path
from typing import Any

from harness.checks.report import JudgedCheck
from recorder.files import Finding
from recorder.integrity import check_episode, integrity_file
from recorder.records import Record
from recorder.subject import subject_of
from recorder.verification import ChecksFile, Render, RendersFile, ReplayDiffFile

PICTURE = b"\x89PNG made up"


def result(name: str = "legs", outcome: str = "pass", *, weight: float = 1.0, required: bool = True) -> JudgedCheck:
    return JudgedCheck.model_validate(
        {
            "id": name,
            "type": "object_exists",
            "weight": weight,
            "required": required,
            "outcome": outcome,
            "message": f"'{name}' is {outcome}",
            "measured": None,
            "expected": {},
            "tolerance": {},
            "evidence": [],
        }
    )


def declared(one: JudgedCheck) -> dict[str, Any]:
    """The check that this is the result of, as a checks file holds it."""
    return {"id": one.id, "type": one.type, "parameters": {}, "weight": one.weight, "required": one.required}


def checks_file(root: Path, *results: JudgedCheck, **fields: Any) -> ChecksFile:
    given = {
        "about": subject_of(root),
        "source": "given" if results else "none",
        "checks": [declared(one) for one in results],
        "scene_sha256": subject_of(root).get("scene.blend", ""),
        "error": "",
        "blender_version": (4, 5, 0),
        "findings": [],
        "results": list(results),
        "isolation": "bwrap",
    }
    return ChecksFile.model_validate(given | fields)


def replay_file(root: Path, verdict: str = "identical", **fields: Any) -> ReplayDiffFile:
    return ReplayDiffFile.model_validate(
        {"about": subject_of(root), "kind": "scene", "verdict": verdict, "isolation": "bwrap"} | fields
    )


def renders_file(root: Path) -> RendersFile:
    render = Render(
        file="hero.png",
        kind="hero",
        label="the scene",
        frame=1,
        width=8,
        height=8,
        sha256=hashlib.sha256(PICTURE).hexdigest(),
    )
    return RendersFile(scene_sha256=subject_of(root)["scene.blend"], engine="workbench", renders=[render], notes=[])


def verify_by_hand(root: Path, *results: JudgedCheck, **replay: Any) -> Path:
    """The episode with a verification as `verify` would write it."""
    write(root, "verification/checks.json", checks_file(root, *results))
    write(root, "verification/replay_diff.json", replay_file(root, **replay))
    findings: list[Finding] = check_episode(root)
    write(root, "verification/integrity.json", integrity_file(root, findings))
    return root


def draw_by_hand(root: Path) -> Path:
    """The episode with a render."""
    write(root, "renders/renders.json", renders_file(root))
    (root / "renders/hero.png").write_bytes(PICTURE)
    return root


def write(root: Path, name: str, record: Record) -> None:
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).write_text(record.model_dump_json(indent=2) + "\n")
