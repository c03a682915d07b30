"""Checks of the file itself: stands alone, holds no code, nothing left over."""

import fnmatch
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from harness.checks.check_type import CheckType, Count, Row
from harness.checks.file_findings import Code, External
from harness.checks.materials import ImageFacts
from harness.checks.verdict import Finding, Name, Record, failed, finding, names, number, passed, plural


class ExternalRow(Row):
    """Files that the scene needs and does not hold."""

    files: Annotated[list[External], Field(max_length=500)]


class NoExternalFiles(CheckType[ExternalRow]):
    """The file stands alone: no linked libraries, and every image, sound, font, clip or cache is in it. Blender's
    built-in font is no file."""

    name: ClassVar[str] = "no_external_files"
    group: ClassVar[str] = "file hygiene"
    row: ClassVar[type[Row]] = ExternalRow
    allow: tuple[str, ...] = ()
    """Patterns (* ?) of paths that may stay outside, as `//textures/*`."""
    allow_relative: bool = False
    """Paths relative to the file may stay outside."""

    def judge_row(self, row: ExternalRow) -> Finding:
        bad = [
            file
            for file in row.files
            if not any(fnmatch.fnmatchcase(file.path, glob) for glob in self.allow)
            and not (self.allow_relative and not file.is_absolute)
        ]
        measured = [{"kind": file.kind, "name": file.name, "path": file.path} for file in bad[:20]]
        if bad:
            return failed(
                f"{bad[0].kind} '{bad[0].name}' is outside the file: '{bad[0].path}' ({len(bad)} in all)", measured
            )
        return passed("The file stands alone", measured)


class UsedImagesRow(Row):
    """The images that something in the scenes uses."""

    images: Annotated[list[ImageFacts], Field(max_length=1000)]


class ImagesPacked(CheckType[UsedImagesRow]):
    """Every image in use is packed into the file and has pixels. A generated one holds nothing but its pattern: pixels
    painted on it are lost unless it is packed."""

    name: ClassVar[str] = "images_packed"
    group: ClassVar[str] = "file hygiene"
    row: ClassVar[type[Row]] = UsedImagesRow
    allow_generated: bool = False
    """Generated images need not be packed."""

    def judge_row(self, row: UsedImagesRow) -> Finding:
        bad = [
            f"'{image.name}' {'is not packed' if image.has_data else 'has no pixels'}"
            for image in row.images
            if not image.has_data or not (image.is_packed or (self.allow_generated and image.source == "GENERATED"))
        ]
        text = f"{plural(len(row.images), 'image is', 'images are')} in use"
        return failed(f"{text}: {bad[0]}", bad[:20]) if bad else passed(f"{text}, all packed", [])


class Orphan(Record):
    """A data-block that no scene leads to."""

    kind: Name
    name: Name
    is_fake_user: bool


class OrphansRow(Row):
    """All of them."""

    n: Count
    n_fake: Count
    """Those that a fake user keeps."""
    orphans: Annotated[list[Orphan], Field(max_length=200)]


OrphanKind = Literal[
    "objects", "meshes", "curves", "materials", "images", "node_groups", "actions", "armatures", "lights", "cameras",
    "collections", "worlds", "textures", "particles", "lattices", "metaballs",
]  # fmt: skip


class NoOrphans(CheckType[OrphansRow]):
    """Nothing is left over that no scene leads to, however many users it has: the mesh of an object that was taken out
    of the scene survives with it."""

    name: ClassVar[str] = "no_orphans"
    group: ClassVar[str] = "file hygiene"
    row: ClassVar[type[Row]] = OrphansRow
    kinds: tuple[OrphanKind, ...] = ()
    """Only these kinds; without it, all of them."""
    max: Count = 0
    """Greatest number."""
    allow_fake_users: bool = False
    """What a fake user keeps does not count."""

    def judge_row(self, row: OrphansRow) -> Finding:
        n = row.n - (row.n_fake if self.allow_fake_users else 0)
        left = [o.name for o in row.orphans if not (self.allow_fake_users and o.is_fake_user)]
        text = f"{plural(n, 'data-block is', 'data-blocks are')} used by no scene"
        return finding(n <= self.max, f"{text}{': ' if left else ''}{names(left)}", left[:20])


class LayoutRow(Row):
    """Scenes and view layers."""

    scenes: Annotated[list[Name], Field(max_length=100)]
    active: Name
    view_layers: Annotated[list[Name], Field(max_length=100)]
    """Of the active scene."""


class SceneLayout(CheckType[LayoutRow]):
    """The file has so many scenes and view layers, and the right one is active."""

    name: ClassVar[str] = "scene_layout"
    group: ClassVar[str] = "file hygiene"
    row: ClassVar[type[Row]] = LayoutRow
    scenes: Annotated[int, Field(ge=1)] = 1
    """Number of scenes."""
    view_layers: Annotated[int, Field(ge=1)] | None = None
    """Number of view layers of the active scene."""
    active: str | None = None
    """Name of the active scene."""

    def judge_row(self, row: LayoutRow) -> Finding:
        is_good = len(row.scenes) == self.scenes and self.active in (None, row.active)
        is_good = is_good and self.view_layers in (None, len(row.view_layers))
        text = f"The file has {plural(len(row.scenes), 'scene')}, '{row.active}' is active"
        text += f" with {plural(len(row.view_layers), 'view layer')}"
        return finding(is_good, text, {"scenes": row.scenes, "view_layers": row.view_layers})


class CodeRow(Row):
    """Code in the file."""

    code: Annotated[list[Code], Field(max_length=500)]
    texts: Annotated[list[Name], Field(max_length=500)]
    """Names of all text blocks, those that run nothing too."""


CodeKind = Literal["registered_text", "scripted_driver", "freestyle_script", "osl_script"]


class NoEmbeddedCode(CheckType[CodeRow]):
    """The file brings no Python along that would run by itself: text blocks set to register, drivers that need Python,
    Freestyle scripts, script nodes."""

    name: ClassVar[str] = "no_embedded_code"
    group: ClassVar[str] = "file hygiene"
    row: ClassVar[type[Row]] = CodeRow
    allow: tuple[CodeKind, ...] = ()
    """Kinds that may be there."""
    allow_texts: bool = True
    """Text blocks that run nothing may be there."""

    def judge_row(self, row: CodeRow) -> Finding:
        bad = [code for code in row.code if code.kind not in self.allow]
        if bad:
            text = f"{bad[0].kind.replace('_', ' ')} '{bad[0].name}': {bad[0].detail}"
            return failed(f"{text} ({len(bad)} in all)", [code.model_dump() for code in bad[:20]])
        if row.texts and not self.allow_texts:
            return failed(
                f"{plural(len(row.texts), 'text block')} left in the file: {names(list(row.texts))}", row.texts
            )
        return passed("The file holds no code that runs by itself", [])


class FileRow(Row):
    """The file."""

    size_mb: float
    version: tuple[int, int, int]


class FileIs(CheckType[FileRow]):
    """The file has a size and a version within bounds."""

    name: ClassVar[str] = "file"
    group: ClassVar[str] = "file hygiene"
    row: ClassVar[type[Row]] = FileRow
    max_mb: Annotated[float, Field(gt=0)] | None = None
    """Greatest size in MiB, as it lies on the disk."""
    min_version: tuple[Count, Count] | None = None
    """Oldest Blender that may have saved it."""
    max_version: tuple[Count, Count] | None = None
    """Newest Blender that may have saved it."""

    def judge_row(self, row: FileRow) -> Finding:
        is_good = self.max_mb is None or row.size_mb <= self.max_mb
        is_good = is_good and (self.min_version is None or row.version[:2] >= self.min_version)
        is_good = is_good and (self.max_version is None or row.version[:2] <= self.max_version)
        text = f"The file has {number(row.size_mb)} MiB and was saved by Blender {'.'.join(map(str, row.version))}"
        return finding(is_good, text, {"size_mb": row.size_mb, "version": row.version})
