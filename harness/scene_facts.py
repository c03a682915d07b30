"""The scene summary as it arrives from Blender, checked field by field: it was measured beside untrusted code."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

Name = Annotated[str, StringConstraints(max_length=256)]
Position = tuple[float, float, float]


class _Facts(BaseModel):
    model_config = ConfigDict(frozen=True, allow_inf_nan=False, defer_build=True)  # built while Blender runs


class Animated(_Facts):
    """An object that something animates."""

    name: Name
    by: Annotated[list[Name], Field(max_length=8)]


class Moving(_Facts):
    """A drawn object whose world matrix differs between the sampled frames."""

    name: Name
    positions: Annotated[list[Position], Field(max_length=64)]
    """World positions in metres, one a sampled frame."""


class Outside(_Facts):
    """A drawn object whose bounding box lies outside the camera's view in some sampled frames."""

    name: Name
    n_frames: int


class Cut(_Facts):
    """A drawn object that the edge of the camera's picture cuts."""

    name: Name
    sides: Annotated[list[Name], Field(max_length=4)]
    """Of the picture: left, right, bottom, top."""


class SceneFacts(_Facts):
    """What `in_blender/scene_summary.py` measures; see there."""

    frame_start: int
    frame_end: int
    frame_step: int
    fps: float
    engine: Name
    resolution: tuple[int, int]
    camera: Name | None
    n_objects: int
    objects_by_type: Annotated[dict[Name, int], Field(max_length=64)]
    n_drawn: int
    n_instances: int
    n_faces: int
    n_animated: int
    animated: Annotated[list[Animated], Field(max_length=40)]
    sampled_frames: Annotated[list[int], Field(max_length=64, min_length=1)]
    n_moving: int
    moving: Annotated[list[Moving], Field(max_length=8)]
    n_outside: int
    outside: Annotated[list[Outside], Field(max_length=40)]
    n_always_outside: int
    frame_current: int = 1
    n_cut: int = 0
    cut: Annotated[list[Cut], Field(max_length=40)] = []
    """In the current frame."""

    @property
    def n_frames(self) -> int:
        """Frames that rendering the scene's range gives."""
        return max(0, (self.frame_end - self.frame_start) // max(1, self.frame_step) + 1)

    @property
    def is_nothing_in_view(self) -> bool:
        return self.camera is not None and 0 < self.n_drawn == self.n_always_outside


def parse_scene_facts(message: dict[str, Any] | None) -> SceneFacts | None:
    """The facts, or None when there are none or they do not hold together."""
    try:
        return SceneFacts.model_validate(message) if message else None
    except ValidationError:
        return None
