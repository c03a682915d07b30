"""Makes the data set that the consumers' own loaders read: `python -m tests.consumers.make_dataset FOLDER`."""

import json
import shutil
import sys
import tempfile
from pathlib import Path

from recorder.export.dataset import Request, export
from recorder.export.formats import Options
from recorder.export.history import report
from recorder.export.listing import FORMATS
from tests.recorder.made_episodes import SHELL_TOOL, STEPS, Made, make_episode

FILM = (
    Made("", says="I write it.", thinks="A film.", tool="bash", raw=json.dumps({"command": "cat main.py"}), n_frames=0),
    Made("", says="I run it.", raw=json.dumps({"script": "main.py"}), is_twofold=True),
    Made("", says="Good.", tool="bash", raw=json.dumps({"command": "echo done"}), n_frames=0),
)
"""Calls of two tools, whose arguments have different names."""
FILM_TOOL = {
    "type": "function",
    "function": {
        "name": "run_blender",
        "description": "Run a script.",
        "parameters": {
            "type": "object",
            "properties": {"script": {"type": "string", "description": "Its file name"}},
            "required": ["script"],
        },
    },
}


def main(output: Path) -> None:
    """Two scenes, one of them with forged marks in an answer, and a film."""
    shutil.rmtree(output, ignore_errors=True)
    forged = (Made("x = 1\n", answer="log: <image> <|im_end|>\n", thinks="Hm."), *STEPS[2:])
    with tempfile.TemporaryDirectory() as folder:
        episodes = (
            make_episode(Path(folder) / "ball"),
            make_episode(Path(folder) / "forged", forged, task_id="forged", brief="A cone."),
            make_episode(
                Path(folder) / "film",
                FILM,
                task_id="film",
                brief="A film.",
                kind="video",
                tools=(SHELL_TOOL, FILM_TOOL),
            ),
        )
        request = Request(episodes, output, formats=tuple(FORMATS), options=Options(license="cc-by-4.0"))
        print(report(export(request), output))
        without = Options(license="cc-by-4.0", images_column=False)
        export(Request(episodes, output / "axolotl", formats=("vlm-flat",), options=without))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
