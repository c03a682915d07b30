"""What a step of a live Blender costs: run, roll back, measure, draw. Medians; the targets are those of the docs."""

import statistics
import tempfile
import time
from pathlib import Path

from harness.settings import HarnessSettings
from harness.step_session import StepSession

N = 20
HEAVY = "import bpy\nbpy.ops.mesh.primitive_grid_add(x_subdivisions=316, y_subdivisions=316)\ngrid = bpy.context.object"
"""A mesh of 100,489 vertices."""


def main() -> None:
    """Print one line a figure."""
    with tempfile.TemporaryDirectory(prefix="blendscribe-bench-") as folder:
        session = StepSession(Path(folder), HarnessSettings())
        began = time.perf_counter()
        session.start()
        print(_line("start of a session", [time.perf_counter() - began], None))
        try:
            _print_steps(session)
        finally:
            session.close()


def _print_steps(session: StepSession) -> None:
    session.step("import bpy", views=True)  # so that nothing is new to the machine
    print(_line("step that does nothing, no previews", _times(session, "pass"), 25))
    print(_line("step that does nothing, with previews", _times(session, "pass", views=True), None))
    print(_line("roll-back of a failed step", _times(session, "1 / 0"), None))
    session.step(HEAVY, views=False)
    print(_line("roll-back of a failed step, 100,000 vertices", _times(session, "1 / 0"), 50))
    print(_line("step, diff and summary, 100,000 vertices", _times(session, "grid.location.x += 1"), 150))
    moved = "grid.data.vertices[0].co.z += 1"
    print(_line("the same with a vertex moved, which copies the mesh", _times(session, moved), None))
    session.step("bpy.data.objects.remove(grid)", views=False)
    began = time.perf_counter()
    session.step("import os, signal\nos.kill(os.getppid(), signal.SIGSEGV)\nwhile True: pass", views=False)
    session.step("pass", views=False)
    print(_line(f"session lost and rebuilt from {len(session.good_steps)} steps", [time.perf_counter() - began], None))


def _times(session: StepSession, code: str, *, views: bool = False) -> list[float]:
    return [session.step(code, views=views).seconds for _ in range(N)]


def _line(name: str, seconds: list[float], target_ms: float | None) -> str:
    times = sorted(1000 * s for s in seconds)
    middle = statistics.median(times)
    verdict = (
        "" if target_ms is None else f", target <= {target_ms:g} ms, {'holds' if middle <= target_ms else 'MISSED'}"
    )
    return f"{name}: {middle:.0f} ms median ({times[0]:.0f} to {times[-1]:.0f}, n={len(times)}){verdict}"


if __name__ == "__main__":
    main()
