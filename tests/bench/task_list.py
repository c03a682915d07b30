"""A task list of 100,000 JSON lines: seconds of CPU and MiB to load it whole, as an index, and to count it."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

N_TASKS = 100_000
MAX_SECONDS, MAX_MB = 15.0, 500
"""CPU, of one core here."""
_WAYS = {
    "loaded whole": "from agent_plugin.task_list import load_tasks; kept = load_tasks(path)",
    "as an index with hashes": "from agent_plugin.task_index import TaskIndex; kept = TaskIndex(path)",
    "examined only": "from agent_plugin.task_list import read_tasks; kept = sum(1 for read in read_tasks(path))",
}
_MEASURE = """
import resource, sys
from pathlib import Path
path = Path(sys.argv[1])
{way}
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
"""


def main() -> None:
    """Print one line each."""
    with tempfile.TemporaryDirectory() as folder:
        path = write_list(Path(folder), N_TASKS)
        for name, way in _WAYS.items():
            command = [sys.executable, "-c", _MEASURE.format(way=way), str(path)]
            ended = subprocess.run(command, capture_output=True, text=True, check=True)
            seconds, megabytes = map(float, ended.stdout.split())
            holds = "holds" if seconds <= MAX_SECONDS and megabytes <= MAX_MB else "MISSED"
            print(
                f"{N_TASKS} tasks {name}: {seconds:.1f} s CPU, {megabytes:.0f} MiB, imports included, "
                f"target <= {MAX_SECONDS:.0f} s and {MAX_MB} MiB, {holds}"
            )


def write_list(folder: Path, n: int) -> Path:
    """Films and scenes; some with settings, checks of their own, or a start file that they share."""
    (folder / "start.blend").write_bytes(b"BLENDER" * 100_000)
    path = folder / "tasks.jsonl"
    with path.open("w") as file:
        for number in range(n):
            file.write(json.dumps(_task(number)) + "\n")
    return path


def _task(number: int) -> dict[str, object]:
    brief = f"Number {number}: " + "A small wooden table with four legs, a red ball on it, in evening light. " * 4
    task: dict[str, object] = {"id": f"task-{number:06}", "kind": "scene" if number % 3 else "video", "brief": brief}
    if number % 4 == 0:
        task["harness"] = {"resolution": [640, 360], "fps": 24, "frame_count": 24 + number % 50}
    if number % 5 == 0:
        target = {"target": f"Part {number % 100}"}
        task["checks"] = [{"id": "part", "type": "object_exists", "parameters": target}]
    if number % 3 and number % 7 == 0:
        task["start_file"] = "start.blend"
    return task


if __name__ == "__main__":
    main()
