"""Checks of materials, shader nodes and textures, as the faces of evaluated meshes use them."""

import fnmatch
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, StringConstraints

from harness.checks.check_type import AtFrame, Bounds, CheckType, Count, CountBounds, Row, Share, wanted
from harness.checks.selectors import Selector
from harness.checks.verdict import (
    Finding,
    Name,
    Record,
    Vector,
    failed,
    finding,
    names,
    number,
    passed,
    plural,
    unsure,
    vector,
)

Channel = Annotated[float, Field(ge=0)]
Color = tuple[Channel, Channel, Channel]
NodeName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z]\w{2,80}$")]
"""Blender's `bl_idname`."""


class SharesRow(Row):
    """How much of an object's area each material covers."""

    n_slots: Count
    shares: Annotated[dict[Name, float], Field(max_length=500)]


class MaterialAssigned(CheckType[SharesRow], AtFrame):
    """The faces of each target object have a material: slot and face index agree, and the slot is not empty."""

    name: ClassVar[str] = "material_assigned"
    group: ClassVar[str] = "materials and textures"
    row: ClassVar[type[Row]] = SharesRow
    target: Selector = Selector(type="MESH")
    material: str | None = None
    """Pattern (* ?) that the materials' names have to match; without it, any material."""
    min_share: Share = 1.0
    """Least share of the area that has one."""
    min_materials: Count = 1
    """Least number of different materials in use."""

    def judge_row(self, row: SharesRow) -> Finding:
        good = {n: s for n, s in row.shares.items() if n and fnmatch.fnmatchcase(n, self.material or "*")}
        share = sum(good.values())
        text = f"{number(100 * share)} % of the area of '{row.object}' has {self._what}: {names(list(good)) or 'none'}"
        is_good = share >= self.min_share - 1e-6 and len(good) >= self.min_materials
        return finding(is_good, text, {name: round(share, 6) for name, share in row.shares.items()})

    @property
    def _what(self) -> str:
        return f"a material like '{self.material}'" if self.material else "a material"


class ColorOf(Record):
    """The colour of one material in use."""

    material: Name
    share: float
    color: Vector | None
    """Linear RGB; None where it is no single colour."""
    why: Name


class ColorsRow(Row):
    """The colours of an object."""

    colors: Annotated[list[ColorOf], Field(max_length=500)]


class BaseColor(CheckType[ColorsRow], AtFrame):
    """The base colour of each target object: that of the shader at the active output, an RGB node or group input behind
    it followed, `diffuse_color` where a material has no nodes. Unknown where a texture gives it."""

    name: ClassVar[str] = "base_color"
    group: ClassVar[str] = "materials and textures"
    row: ClassVar[type[Row]] = ColorsRow
    target: Selector
    color: Color
    """RGB, 0..1."""
    space: Literal["linear", "srgb"] = "linear"
    """What `color` is written in: Blender's sockets hold linear values, colour pickers' hex codes are sRGB."""
    tolerance: Annotated[float, Field(ge=0)] = 0.1
    """Greatest difference in each channel, in that space."""
    min_share: Share = 0.5
    """Least share of the area that has this colour."""

    def judge_row(self, row: ColorsRow) -> Finding:
        good = sum(c.share for c in row.colors if c.color and self._is_near(c.color))
        open_ = [c for c in row.colors if c.color is None and c.material]
        shown = [f"{vector(self._converted(c.color))} ('{c.material}')" for c in row.colors if c.color]
        text = f"'{row.object}' has {'the base colour ' + ', '.join(shown[:3]) if shown else 'no base colour'}"
        text += f"; wanted: {vector(self.color)} ± {number(self.tolerance)} ({self.space})"
        measured = [{"material": c.material, "color": c.color, "share": c.share} for c in row.colors[:20]]
        if good >= self.min_share - 1e-6:
            return passed(text, measured)
        if good + sum(c.share for c in open_) >= self.min_share - 1e-6:
            return unsure(f"The colour of '{open_[0].material}' on '{row.object}' is no single one: {open_[0].why}")
        return failed(text, measured)

    def _converted(self, color: Vector) -> Vector:
        if self.space == "linear":
            return color
        r, g, b = (srgb(channel) for channel in color)
        return r, g, b

    def _is_near(self, color: Vector) -> bool:
        return all(abs(a - b) <= self.tolerance for a, b in zip(self._converted(color), self.color, strict=True))


def srgb(linear: float) -> float:
    """A channel in sRGB (IEC 61966-2-1)."""
    return 12.92 * linear if linear <= 0.0031308 else 1.055 * linear ** (1 / 2.4) - 0.055


Socket = Literal[
    "Base Color", "Metallic", "Roughness", "IOR", "Alpha", "Diffuse Roughness", "Subsurface Weight",
    "Subsurface Radius", "Subsurface Scale", "Subsurface IOR", "Subsurface Anisotropy", "Specular IOR Level",
    "Specular Tint", "Anisotropic", "Anisotropic Rotation", "Transmission Weight", "Coat Weight", "Coat Roughness",
    "Coat IOR", "Coat Tint", "Sheen Weight", "Sheen Roughness", "Sheen Tint", "Emission Color", "Emission Strength",
    "Thin Film Thickness", "Thin Film IOR",
]  # fmt: skip
"""Of Principled BSDF in Blender 4.5."""


class SocketRow(Row):
    """The value of a socket in one material."""

    material: Name
    share: float
    n_shaders: Count
    value: float | Annotated[list[float], Field(max_length=4)] | None
    linked_by: Name


class PrincipledParam(CheckType[SocketRow], AtFrame, Bounds):
    """A socket of the Principled BSDF in every material that the target objects use lies within bounds (each channel of
    a colour). Unknown where a texture feeds it."""

    name: ClassVar[str] = "principled_param"
    group: ClassVar[str] = "materials and textures"
    row: ClassVar[type[Row]] = SocketRow
    target: Selector
    socket: Socket
    """Its name in Blender 4.5."""

    def judge_row(self, row: SocketRow) -> Finding:
        where = f"material '{row.material}' of '{row.object}'"
        if not row.n_shaders:
            return failed(f"The {where} has no Principled BSDF at its output")
        if row.n_shaders > 1:
            return unsure(f"The {where} mixes {row.n_shaders} Principled BSDFs")
        if row.value is None:
            return unsure(f"The socket '{self.socket}' of {where} is fed by {row.linked_by or 'another node'}")
        values = row.value if isinstance(row.value, list) else [row.value]
        text = f"'{self.socket}' of {where} is {', '.join(map(number, values))}; wanted: {wanted(self.min, self.max)}"
        return finding(all(self.holds(round(value, 6)) for value in values), text, row.value)


class NodesRow(Row):
    """How many such nodes have a say in the output."""

    n: Count
    others: Annotated[list[Name], Field(max_length=50)]
    """The types that do."""


class ShaderNode(CheckType[NodesRow], AtFrame):
    """The materials of each target object use a node: one that the active output depends on, in groups too. A node that
    nothing leads to the output, or a muted one, does not count."""

    name: ClassVar[str] = "shader_node"
    group: ClassVar[str] = "materials and textures"
    row: ClassVar[type[Row]] = NodesRow
    target: Selector
    node: NodeName
    """Blender's `bl_idname`, as `ShaderNodeTexNoise`."""
    min: Annotated[int, Field(ge=1)] = 1
    """Least number over all materials of the object."""

    def judge_row(self, row: NodesRow) -> Finding:
        text = f"The materials of '{row.object}' use {plural(row.n, self.node)} on the way to the output"
        return finding(row.n >= self.min, f"{text}; wanted: at least {self.min}", list(row.others))


class ImageFacts(Record):
    """One image."""

    name: Name
    source: Name
    width: Count
    height: Count
    is_packed: bool
    has_data: bool


class ImagesRow(Row):
    """The images that an object's materials use."""

    images: Annotated[list[ImageFacts], Field(max_length=100)]


class TextureImage(CheckType[ImagesRow], AtFrame):
    """The materials of each target object use an image that is there: of a least size, with pixels, packed into the
    file. Painted pixels of a generated image are lost unless they are packed."""

    name: ClassVar[str] = "texture_image"
    group: ClassVar[str] = "materials and textures"
    row: ClassVar[type[Row]] = ImagesRow
    target: Selector
    min_size: Annotated[int, Field(ge=1)] = 1
    """Least width and height in pixels."""
    packed: bool = True
    """It has to be packed."""

    def judge_row(self, row: ImagesRow) -> Finding:
        measured = [image.model_dump() for image in row.images[:20]]
        bad: list[Any] = []
        for image in row.images:
            if not image.has_data:
                bad.append(f"'{image.name}' has no pixels (its file is missing)")
            elif min(image.width, image.height) < self.min_size:
                bad.append(f"'{image.name}' has {image.width} x {image.height} pixels, wanted {self.min_size}")
            elif self.packed and not image.is_packed:
                bad.append(f"'{image.name}' is not packed into the file")
        if not row.images:
            return failed(f"The materials of '{row.object}' use no image", measured)
        text = f"The materials of '{row.object}' use {plural(len(row.images), 'image')}"
        return failed(f"{text}: {bad[0]}", measured) if bad else passed(text, measured)


class MaterialsRow(Row):
    """Materials that faces use."""

    materials: Annotated[list[Name], Field(max_length=500)]
    n: Count


class MaterialCount(CheckType[MaterialsRow], AtFrame, CountBounds):
    """The number of different materials that the faces of all target objects use."""

    name: ClassVar[str] = "material_count"
    group: ClassVar[str] = "materials and textures"
    row: ClassVar[type[Row]] = MaterialsRow
    target: Selector = Selector(type="MESH")

    def judge_row(self, row: MaterialsRow) -> Finding:
        text = f"{plural(row.n, 'material is', 'materials are')} in use: {names(list(row.materials)) or 'none'}"
        return finding(self.holds(row.n), f"{text}; wanted: {wanted(self.min, self.max)}", row.n)
