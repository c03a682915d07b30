"""Words a step for the model. Untrusted text stands behind `  | ` or in quotes, as in `report.py`."""

from harness.report import error_lines, log_lines, neutralise, scene_lines
from harness.step_result import StepOutcome, StepResult, StepView

_NO_MARK = "The scene, your names and the workspace files are as they were before this step."
_FAILED_HOW: dict[StepOutcome, str] = {
    "refused": "was refused",
    "step_error": "raised an exception",
    "timeout": "took too long",
    "crash": "crashed",
    "out_of_memory": "ran out of memory",
    "limit": "went over a limit",
    "no_result": "ended too early",
}
"""What a model reads; records and JSON keep the identifiers."""
_MAX_NAMES = 8
_RESULT_ADVICE = (
    "Note: renders run in a process of their own, so that 'Render Result' and 'Viewer Node' hold no pixels here. Set "
    "scene.render.filepath, call bpy.ops.render.render(write_still=True), and load the file if you need its pixels."
)


def step_text(result: StepResult) -> str:
    """The whole answer without pictures; ends with a newline."""
    sections = [
        _headline(result),
        *_rebuilt(result),
        *error_lines(result.error),
        *log_lines(result.log),
        *_result_advice(result),
        *_changes(result),
        *(scene_lines(result.scene) if result.scene else []),
        *_missing_views(result),
    ]
    return neutralise("\n".join(sections)) + "\n"


def view_caption(number: int, view: StepView) -> str:
    """The line that stands before a view; numbers count from 1."""
    return neutralise(_on_one_line(f"View {number}: {view.label}, frame {view.frame}:"))


def _headline(result: StepResult) -> str:
    seconds = f"{result.seconds:.1f} s"
    if result.ok:
        return f"STEP OK: step {result.number} took effect ({seconds})"
    how = _FAILED_HOW[result.outcome]
    # the reason says the same in front of how much it was
    first, *rest = result.reason.removeprefix("out of memory: ").splitlines() or [""]
    lines = [f"STEP FAILED: step {result.number} {how}: {first}", *(f"  | {line}" for line in rest)]
    return "\n".join([*lines, f"{_NO_MARK}{_put_back(result.files_put_back)} ({seconds})"])


def _put_back(names: tuple[str, ...]) -> str:
    if not names:
        return ""
    more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    return f" Put back: {', '.join(repr(name) for name in names[:_MAX_NAMES])}{more}."


def _rebuilt(result: StepResult) -> list[str]:
    if not result.rebuilt:
        return []
    again = "Note: Blender had to be started again, and the steps that took effect were run again"
    if result.steps_lost:
        numbers = ", ".join(map(str, result.steps_lost))
        return [f"{again}. This time these failed, and count no more: {numbers}. Look at the scene before you go on."]
    if result.rebuilt_differs:
        return [
            f"{again}. The scene is NOT the same as before: a step uses something unseeded (random, time, set order). "
            "Look at the scene before you go on."
        ]
    return [f"{again}; they gave the same scene."]


def _missing_views(result: StepResult) -> list[str]:
    if result.views_failed:
        return ["Views: not all could be drawn in time." if result.views else "Views: they could not be drawn in time."]
    return [f"Views: {_on_one_line(result.views_note)}."] if result.views_note else []


def _result_advice(result: StepResult) -> list[str]:
    return [_RESULT_ADVICE] if "Render Result" in result.code or "Viewer Node" in result.code else []


def _changes(result: StepResult) -> list[str]:
    if not result.ok:
        return []
    if not result.changes:
        return ["Scene changes: none."]
    return ["Scene changes:", *(f"  {_on_one_line(line)}" for line in result.changes)]


def _on_one_line(text: str) -> str:
    """Names of data-blocks may hold line ends, which would let them pose as lines of ours."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
