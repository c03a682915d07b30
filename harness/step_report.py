"""Words a step for the model. Untrusted text stands behind `  | ` or in quotes, as in `report.py`."""

from harness.report import error_lines, log_lines, neutralise, scene_lines
from harness.step_result import StepResult, StepView

_API_ADVICE = "The scene, your names and the workspace files are as they were before this step."


def step_text(result: StepResult) -> str:
    """The whole answer without pictures; ends with a newline."""
    sections = [
        _headline(result),
        *_rebuilt(result),
        *error_lines(result.error),
        *log_lines(result.log),
        *_changes(result),
        *(scene_lines(result.scene) if result.scene else []),
        *(["Views: they could not be drawn in time."] if result.views_failed else []),
    ]
    return neutralise("\n".join(sections)) + "\n"


def view_caption(number: int, view: StepView) -> str:
    """The line that stands before a view; numbers count from 1."""
    return neutralise(f"View {number}: {view.label}, frame {view.frame}:")


def _headline(result: StepResult) -> str:
    seconds = f"{result.seconds:.1f} s"
    if result.ok:
        return f"STEP OK: step {result.number} took effect ({seconds})"
    first, *rest = result.reason.splitlines() or [""]
    lines = [f"STEP FAILED: step {result.number}: {result.outcome}: {first}", *(f"  | {line}" for line in rest)]
    put_back = (
        f" Put back: {', '.join(repr(name) for name in result.files_put_back[:8])}." if result.files_put_back else ""
    )
    return "\n".join([*lines, f"{_API_ADVICE}{put_back} ({seconds})"])


def _rebuilt(result: StepResult) -> list[str]:
    if not result.rebuilt:
        return []
    if result.rebuilt_differs:
        return [
            "Note: Blender had to be started again and the steps that took effect were run again. The scene is NOT the "
            "same as before: a step uses something unseeded (random, time, set order). Look at the views."
        ]
    return ["Note: Blender had to be started again; the steps that took effect were run again and gave the same scene."]


def _changes(result: StepResult) -> list[str]:
    if not result.ok:
        return []
    if not result.changes:
        return ["Scene changes: none."]
    return ["Scene changes:", *(f"  {line}" for line in result.changes)]
