"""False alarms of the comparison of a video with its scene: 100 honest renders, while something else uses the cores.

python -m tests.bench.honest_renders [NUMBER]
"""

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from harness.settings import HarnessSettings
from harness.video_compare import VideoComparison
from harness.video_verdict import judge_video
from tests.attacks.honest import varied

SETTINGS = HarnessSettings(resolution=(160, 90), frame_count=8, preview_frames=1, summary_samples=2)
_LOAD = "import time\nend = time.monotonic() + 3600\nwhile time.monotonic() < end: pass"


def main() -> None:
    """Print the number of alarms and the largest differences."""
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    load = subprocess.Popen([sys.executable, "-c", _LOAD])
    try:
        worst: list[float] = []
        whole: list[float] = []
        alarms: list[str] = []
        for seed in range(1000, 1000 + number):
            comparison, codes = _judged(seed)
            if comparison and comparison.lasting:
                worst.append(comparison.lasting.difference)
                whole.append(max(comparison.whole_frames))
            alarms += [f"{seed}: {', '.join(codes)}"] if codes else []
    finally:
        load.kill()
        load.wait()
    largest, largest_whole = (", ".join(f"{d:.2f}" for d in sorted(found)[-5:]) for found in (worst, whole))
    print(
        f"honest renders compared under load: {len(worst)} of {number}, {len(alarms)} false alarms; lasting "
        f"difference of a block: median {statistics.median(worst):.2f}, largest {largest}; of a frame: {largest_whole}"
    )
    print("\n".join(alarms))


def _judged(seed: int) -> tuple[VideoComparison | None, list[str]]:
    """What was compared (None where the script itself was found bad), and accusations."""
    with tempfile.TemporaryDirectory(prefix="blendscribe-bench-") as folder:
        workspace = Path(folder, "workspace")
        workspace.mkdir()
        (workspace / "main.py").write_text(varied(seed))
        verdict = judge_video("main.py", workspace, SETTINGS, keep_video=Path(folder, "output.mp4"))
    if verdict.render is None:
        return None, [p.code for p in verdict.result.problems if p.code == "scene_not_saved"]
    return verdict.render.comparison, [problem.code for problem in verdict.render.problems]


if __name__ == "__main__":
    main()
