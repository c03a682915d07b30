"""Checks of render settings, and of whether there is anything in the picture."""

import fnmatch
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from harness.checks.check_type import AtFrame, CheckType, Count, Row, Share
from harness.checks.verdict import Finding, Name, failed, finding, number

Engine = Literal["BLENDER_EEVEE_NEXT", "BLENDER_WORKBENCH", "CYCLES"]


class SettingsRow(Row):
    """The scene's render settings."""

    engine: Name
    resolution: tuple[int, int]
    """With the percentage taken into account."""
    percentage: int
    samples: int | None
    """Of the engine in use; None where it has none."""
    view_transform: Name
    look: Name
    film_transparent: bool
    file_format: Name


class RenderSetting(CheckType[SettingsRow]):
    """The render settings of the scene are as wanted."""

    name: ClassVar[str] = "render_setting"
    group: ClassVar[str] = "render settings"
    row: ClassVar[type[Row]] = SettingsRow
    engine: Engine | None = None
    """Its id in Blender 4.5."""
    resolution: tuple[Annotated[int, Field(ge=1)], Annotated[int, Field(ge=1)]] | None = None
    """Width and height that come out, the percentage included."""
    min_samples: Count | None = None
    """Least number of samples of the engine in use."""
    max_samples: Count | None = None
    """Greatest number of samples."""
    view_transform: str | None = None
    """As `AgX` or `Standard`."""
    look: str | None = None
    """As `None` or `AgX - Punchy`."""
    film_transparent: bool | None = None
    """Whether the background is transparent."""
    file_format: str | None = None
    """As `PNG` or `FFMPEG`."""

    @model_validator(mode="after")
    def _asks(self) -> Self:
        if not self.model_dump(exclude_none=True):
            raise ValueError("give at least one setting")
        return self

    def judge_row(self, row: SettingsRow) -> Finding:
        bad = [
            f"{name} is {_shown(getattr(row, name))}, wanted {_shown(expected)}"
            for name in ("engine", "resolution", "view_transform", "look", "film_transparent", "file_format")
            if (expected := getattr(self, name)) is not None and getattr(row, name) != expected
        ]
        if self.min_samples is not None or self.max_samples is not None:
            if row.samples is None:
                return Finding(outcome="unknown", message=f"The engine {row.engine} has no number of samples")
            is_good = (self.min_samples or 0) <= row.samples
            is_good = is_good and (self.max_samples is None or row.samples <= self.max_samples)
            bad += [] if is_good else [f"it takes {row.samples} samples"]
        measured = row.model_dump(exclude={"object", "frame", "spots"})
        text = f"The scene renders {row.resolution[0]} x {row.resolution[1]} pixels with {row.engine}"
        return failed(f"{text}: {'; '.join(bad)}", measured) if bad else finding(True, text, measured)


class PathRow(Row):
    """Where renders go."""

    path: Name
    is_absolute: bool


class OutputPath(CheckType[PathRow]):
    """The scene's output path is relative to the file, and matches a pattern. An absolute one tells of the machine that
    made it; Blender's own `/tmp\\` is one."""

    name: ClassVar[str] = "output_path"
    group: ClassVar[str] = "render settings"
    row: ClassVar[type[Row]] = PathRow
    pattern: str = "*"
    """Pattern (* ?) of the whole path."""
    relative: bool = True
    """It has to be relative."""

    def judge_row(self, row: PathRow) -> Finding:
        is_good = fnmatch.fnmatchcase(row.path, self.pattern) and not (self.relative and row.is_absolute)
        kind = "absolute" if row.is_absolute else "relative"
        return finding(is_good, f"The output path '{row.path}' is {kind}; wanted: '{self.pattern}'", row.path)


class PictureRow(Row):
    """Figures of a small picture that we rendered."""

    luma_range: float
    """Between the 1st and the 99th percentile, 0..1."""
    uniform_share: Share
    """Of the most frequent grey of 64."""


class RenderNotBlank(CheckType[PictureRow], AtFrame):
    """What the scene's camera sees is no empty picture: rendered by us, small, in Workbench, whatever the file's own
    settings are. It sees shapes, not lights or shaders."""

    name: ClassVar[str] = "render_not_blank"
    group: ClassVar[str] = "render settings"
    row: ClassVar[type[Row]] = PictureRow
    changes_scene: ClassVar[bool] = True
    min_luma_range: Share = 0.05
    """Least difference of bright and dark (1st to 99th percentile); an empty Workbench picture has none."""
    max_uniform: Share = 0.995
    """Greatest share of pixels of one grey."""

    def judge_row(self, row: PictureRow) -> Finding:
        text = (
            f"The picture spans {number(row.luma_range)} of brightness, {number(100 * row.uniform_share)} % in one grey"
        )
        is_good = row.luma_range >= self.min_luma_range and row.uniform_share <= self.max_uniform
        return finding(is_good, text, {"luma_range": row.luma_range, "uniform_share": row.uniform_share})


def _shown(value: Any) -> str:
    return f"'{value}'" if isinstance(value, str) else str(value)
