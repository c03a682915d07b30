"""The settings of the harness: the `harness:` mapping of a config or a task, and VCSFT_HARNESS in agent shells."""

from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from harness.sandbox.level import SandboxMode
from harness.sandbox.limits import Limits

Pixels = Annotated[int, Field(ge=16, le=8192)]
Count = Annotated[int, Field(ge=1, le=100_000)]


class HarnessSettings(BaseModel):
    """How a script is run and what its video has to be. Unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    bpy_python: str = ""
    """The Blender interpreter (a Python that can import bpy). Empty: the one that `blendscribe setup` made."""
    bpy_libs: str = ""
    """Folder with Mesa's `lib/` and `share/glvnd/egl_vendor.d`. Empty: what setup unpacked, else the system's."""

    output_video: str = "output.mp4"
    """Name of the video that the script has to render, relative to the workspace."""
    resolution: tuple[Pixels, Pixels] = (640, 360)
    """Width and height in pixels that the video must have."""
    fps: Annotated[float, Field(gt=0, le=240)] = 24.0
    """Frames per second that the video must have (within 0.01)."""
    frame_count: Count = 48
    """Frames that the video must have; with `max_frame_count`, the least it may have."""
    max_frame_count: Count | None = None
    """The most frames it may have. With a range, the video must also be as long as the scene's frame range."""

    exec_timeout: Annotated[float, Field(gt=0, le=86_400)] = 300.0
    """Seconds that one run of the script may take, render included."""
    memory_mb: Annotated[int, Field(ge=256)] = 4096
    """Resident memory of the run's whole process tree, MiB."""
    max_processes: Annotated[int, Field(ge=8)] = 256
    """Processes that the run may have alive at once."""
    max_output_mb: Annotated[int, Field(ge=1)] = 16
    """What the run may print, MiB."""
    max_file_mb: Annotated[int, Field(ge=1)] = 1024
    """Size of any file that the run writes, MiB."""
    max_disk_mb: Annotated[int, Field(ge=1)] = 2048
    """What the run may add to the workspace, MiB."""
    sandbox: SandboxMode = "auto"
    """`auto`: the strongest isolation that works: bubblewrap, else Landlock, else limits only; `required`: refuse to
    run without bubblewrap; `off`: limits only. Unset, `blendscribe run` takes it as `required`."""

    allow_images: Annotated[float, Field(ge=0, le=1)] = 0.25
    """Share of a frame that pictures in the scene (textures, painted or loaded pixels) may fill in the final check; 1
    allows footage (movies, image sequences, strips) too."""

    summary_samples: Annotated[int, Field(ge=1, le=64)] = 6
    """Frames at which the scene summary measures positions and visibility."""
    content_samples: Annotated[int, Field(ge=2, le=64)] = 8
    """Frames from which an empty or a static video is told."""
    visual_feedback: bool = True
    """Give frames of the video back to the model."""
    preview_frames: Annotated[int, Field(ge=1, le=32)] = 8
    """Evenly spaced frames given back."""
    preview_width: Annotated[int, Field(ge=64, le=2048)] = 640
    """Width of these frames in pixels (never more than the video's)."""

    @field_validator("output_video")
    @classmethod
    def _is_a_plain_name(cls, name: str) -> str:
        path = Path(name)
        if not name or path.is_absolute() or ".." in path.parts or path.name != name:
            raise ValueError("must be a plain file name inside the workspace, such as 'output.mp4'")
        return name

    @model_validator(mode="after")
    def _range_is_in_order(self) -> Self:
        if self.max_frame_count is not None and self.max_frame_count < self.frame_count:
            raise ValueError(f"max_frame_count ({self.max_frame_count}) is less than frame_count ({self.frame_count})")
        return self

    @property
    def limits(self) -> Limits:
        return Limits(
            timeout_seconds=self.exec_timeout,
            memory_mb=self.memory_mb,
            max_processes=self.max_processes,
            output_mb=self.max_output_mb,
            max_file_mb=self.max_file_mb,
            disk_mb=self.max_disk_mb,
        )
