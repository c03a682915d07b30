"""Where everything of a run and an episode lies. All path names come from here."""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

_MAX_NAME = 120


@dataclass(frozen=True)
class RunPaths:
    """The folder of one run."""

    root: Path

    @property
    def run_file(self) -> Path:
        return self.root / "run.json"

    @property
    def lock_file(self) -> Path:
        return self.root / ".lock"

    @property
    def events_file(self) -> Path:
        """What the run's launchers did, for programs that follow it."""
        return self.root / "events.jsonl"

    @staticmethod
    def is_begun_with(name: str) -> bool:
        """Whether a launcher that was killed before run.json stood may have left this: a lock, an unfinished file."""
        return name == ".lock" or bool(re.fullmatch(r"\.run\.json\.\d+\.tmp", name))

    def episode(self, task_id: str, model: str, attempt: int) -> "EpisodePaths":
        return EpisodePaths(self.root / "episodes" / task_id / folder_name(model) / f"{attempt}")

    def episodes(self) -> list["EpisodePaths"]:
        """Every episode folder that is there, finished or not, in order."""
        folders = sorted((self.root / "episodes").glob("*/*/*"))
        return [EpisodePaths(folder) for folder in folders if folder.is_dir() and folder.name.isdigit()]


@dataclass(frozen=True)
class EpisodePaths:
    """The folder of one episode."""

    root: Path

    @property
    def trajectory(self) -> Path:
        return self.root / "trajectory.jsonl"

    @property
    def images(self) -> Path:
        return self.root / "images"

    @property
    def states(self) -> Path:
        """Scene tasks: what each step changed in the scene state."""
        return self.root / "states"

    @property
    def task(self) -> Path:
        return self.root / "task"

    @property
    def workspace(self) -> Path:
        """The agent's folder while the episode runs."""
        return self.root / "workspace"

    @property
    def final_script(self) -> Path:
        return self.root / "final_script.py"

    @property
    def output_video(self) -> Path:
        """The video of the final execution, whatever its name in the workspace."""
        return self.root / "output.mp4"

    @property
    def scene(self) -> Path:
        """The saved scene of a scene task."""
        return self.root / "scene.blend"

    @property
    def preview(self) -> Path:
        return self.root / "preview.png"

    @property
    def summary(self) -> Path:
        """Renamed into place last: the episode is finished when it is there."""
        return self.root / "episode.json"

    @property
    def is_finished(self) -> bool:
        return self.summary.is_file()


def folder_name(model: str) -> str:
    """A model's name as one folder name: `openai/gpt-5` becomes `openai--gpt-5`; a long one ends in a hash."""
    name = re.sub(r"[^A-Za-z0-9._@+=-]+", "-", model.replace("/", "--")).strip(".-") or "model"
    return (
        name if len(name) <= _MAX_NAME else f"{name[: _MAX_NAME - 9]}-{hashlib.sha256(model.encode()).hexdigest()[:8]}"
    )
