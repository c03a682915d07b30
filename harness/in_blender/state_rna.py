"""Reads one data-block into a flat {path: value}, through RNA: whatever properties its structs have.

Breadth first, so that a struct which several properties lead to is written under its shortest path and the others
refer to it (`-> nodes[Mix]`). Other data-blocks are named, not entered; blocks embedded in this one
(a material's node tree, a scene's master collection) are part of it. Not covered: what `state_exclusions` names.
"""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import bpy
import numpy as np

from harness.in_blender import state_exclusions as exclusions
from harness.in_blender.state_plans import (
    DTYPES,
    Plan,
    class_name,
    class_names,
    file_name,
    plain_value,
    remembered_plan,
    unreadable,
)
from harness.in_blender.state_values import Value, array_value

MAX_ENTRIES = 100_000
"""Paths a block may have; what is beyond is counted under `_left_out`."""
_MAX_CUSTOM_DEPTH = 8
_ORDERED_BLOCKS = {"materials"}
"""Collections of data-blocks whose order shows; others are sorted."""
_UNORDERED = {"nodes"}
_BY_POSITION = {"MaterialSlot", "TextBox", "Spline"}


class Reader:
    """Reads blocks; keeps the plans of struct classes between them and tells `found` each block pointed to."""

    def __init__(self, found: Callable[[bpy.types.ID], None]) -> None:
        self.found = found
        self._plans: dict[type, Plan] = {}

    def plan(self, struct: bpy.types.bpy_struct) -> Plan:
        kind = type(struct)
        if kind not in self._plans:
            self._plans[kind] = remembered_plan(kind, struct.bl_rna)
        return self._plans[kind]

    def read(self, block: bpy.types.ID) -> dict[str, Value]:
        return _BlockReading(self, block).run()


class _BlockReading:
    """One walk over one block."""

    def __init__(self, reader: Reader, block: bpy.types.ID) -> None:
        self.reader = reader
        self.block = block
        self.inside = {block.as_pointer()}
        """Addresses of the data-blocks that are part of this one."""
        self.paths: dict[tuple[int, type], str] = {(block.as_pointer(), type(block)): "itself"}
        self.queue: deque[tuple[str, bpy.types.bpy_struct]] = deque([("", block)])
        self.entries: dict[str, Value] = {}
        self.n_left_out = 0

    def run(self) -> dict[str, Value]:
        while self.queue:
            path, struct = self.queue.popleft()
            if len(self.entries) > MAX_ENTRIES:
                self.n_left_out += 1
            else:
                self.read_struct(path, struct)
        if self.n_left_out:
            self.entries["_left_out"] = self.n_left_out
        return self.entries

    def read_struct(self, path: str, struct: bpy.types.bpy_struct) -> None:
        plan = self.reader.plan(struct)
        prefix = f"{path}." if path else ""
        for name, convert in plan.values:
            try:
                self.entries[prefix + name] = convert(getattr(struct, name))
            except Exception as error:  # noqa: BLE001 - odd data must not hide the rest
                self.entries[prefix + name] = unreadable(error)
        for name in plan.pointers:
            self.guarded(prefix + name, self.read_pointer, struct, name)
        for name in plan.collections:
            self.guarded(prefix + name, self.read_collection, struct, name)
        self.guarded(path, self.read_custom, struct)

    def guarded(self, path: str, read: Callable[..., None], *arguments: object) -> None:
        try:
            read(path, *arguments)
        except Exception as error:  # noqa: BLE001 - odd data must not hide the rest
            self.entries[path] = unreadable(error)

    def read_pointer(self, path: str, struct: bpy.types.bpy_struct, name: str) -> None:
        target = getattr(struct, name)
        if target is None:
            return
        if isinstance(target, bpy.types.ID):
            self.entries[path] = self.enter_block(path, target)
        else:
            self.entries[path] = self.enter(path, target)

    def enter_block(self, path: str, target: bpy.types.ID) -> Value:
        """An embedded block is read as a part of this one, any other is named and reported."""
        if not target.is_embedded_data:
            self.reader.found(target)
            return block_key(target)
        self.inside.add(target.as_pointer())
        return self.enter(path, target)

    def enter(self, path: str, struct: bpy.types.bpy_struct) -> Value:
        """Queue a struct, or say where it is written."""
        key = (struct.as_pointer(), type(struct))
        if key in self.paths:
            return f"-> {self.paths[key]}"
        owner = struct.id_data
        if owner is not None and owner.as_pointer() not in self.inside:
            if not owner.is_embedded_data:
                self.reader.found(owner)
            return f"-> {block_key(owner)}.{item_key(struct) or type(struct).__name__}"
        self.paths[key] = path
        if exclusions.is_off(class_name(struct), struct):
            return "off"
        self.queue.append((path, struct))
        return class_name(struct)

    def read_collection(self, path: str, struct: bpy.types.bpy_struct, name: str) -> None:
        collection = getattr(struct, name)
        first = next((item for item in collection if item is not None), None)
        if isinstance(first, bpy.types.ID):
            keys = [None if item is None else self.enter_block(path, item) for item in collection]
            self.entries[path] = keys if name in _ORDERED_BLOCKS else sorted(map(str, keys))
        elif isinstance(first, bpy.types.NodeLink):
            self.entries[path] = sorted(map(link_text, collection))
        elif first is not None and self.reader.plan(first).is_plain:
            self.read_columns(path, collection, self.reader.plan(first))
        elif first is not None:
            self.read_items(path, name, collection[:])
        elif len(collection):
            self.entries[path] = [None] * len(collection)

    def read_items(self, path: str, name: str, items: Sequence[bpy.types.bpy_struct]) -> None:
        keys = item_keys(items)
        room = max(0, MAX_ENTRIES - len(self.entries) - len(self.queue))
        self.n_left_out += max(0, len(items) - room)
        places = []
        for key, item in list(zip(keys, items, strict=True))[:room]:
            if exclusions.is_excluded_item(name, key):
                continue
            place = str(self.enter(f"{path}[{key}]", item))
            if place != "off":
                places.append(place if place.startswith("->") else key)
        if places:
            self.entries[path] = sorted(places) if name in _UNORDERED else places

    def read_columns(self, path: str, collection: bpy.types.bpy_prop_collection, plan: Plan) -> None:
        for name, kind, width in plan.columns:
            self.entries[f"{path}.{name}"] = array_value(column(collection, name, kind, width))

    def read_custom(self, path: str, struct: bpy.types.bpy_struct) -> None:
        """Custom properties, and what is stored as such: inputs of Geometry Nodes, properties a script registered."""
        if isinstance(struct, bpy.types.PropertyGroup):
            return  # its properties are read by name
        try:
            names = struct.keys()
        except (TypeError, AttributeError):
            return  # a class that cannot have any
        properties = struct.bl_rna.properties
        for name in names:
            is_own = name in properties and not properties[name].is_runtime
            if not is_own and name not in exclusions.NOT_CUSTOM:
                self.entries[f'{path}["{name}"]'] = self.custom_value(struct[name], 0)

    def custom_value(self, value: Any, depth: int) -> Value:
        if depth > _MAX_CUSTOM_DEPTH:
            return "<too deep>"
        if isinstance(value, bpy.types.ID):
            self.reader.found(value)
            return block_key(value)
        if hasattr(value, "keys"):
            return {str(k): self.custom_value(value[k], depth + 1) for k in sorted(value.keys())}
        if hasattr(value, "to_list"):
            return array_value(np.array(value.to_list()))
        if isinstance(value, list | tuple):
            return [self.custom_value(item, depth + 1) for item in value]
        # a file that was opened again has 0 and 1 where a modifier's inputs had False and True
        return plain_value(int(value) if isinstance(value, bool) else value)


def column(collection: bpy.types.bpy_prop_collection, name: str, kind: str, width: int) -> np.ndarray:
    """One numeric property of all items, shape (n,) or (n, width)."""
    values: np.ndarray = np.empty(len(collection) * width, dtype=DTYPES[kind])
    collection.foreach_get(name, values)
    return values if width == 1 else values.reshape(-1, width)


def block_key(block: bpy.types.ID) -> str:
    """`Object/Cube`; linked blocks carry their library's file: `Object/Cube [parts.blend]`."""
    classes = class_names(block.bl_rna)
    kind = classes[max(0, len(classes) - 2)]  # the last is ID
    library = f" [{file_name(block.library.filepath)}]" if block.library else ""
    return f"{kind}/{block.name}{library}"


def link_text(link: bpy.types.NodeLink) -> str:
    muted = " (muted)" if link.is_muted else ""
    place = f" #{link.multi_input_sort_id}" if link.to_socket.is_multi_input else ""
    return (
        f"{link.from_node.name}.{link.from_socket.identifier} -> {link.to_node.name}.{link.to_socket.identifier}"
        f"{place}{muted}"
    )


def item_keys(items: Sequence[bpy.types.bpy_struct]) -> list[str]:
    """What tells the items of a collection apart: their names, when they all have one of their own."""
    keys = [item_key(item) for item in items]
    if all(keys) and len(set(keys)) == len(keys):
        return keys
    return [str(i) for i in range(len(items))]


def item_key(item: bpy.types.bpy_struct) -> str:
    if isinstance(item, bpy.types.FCurve):
        return f"{item.data_path}[{item.array_index}]"
    if isinstance(item, bpy.types.ActionChannelbag):
        return item.slot.identifier if item.slot else ""
    if class_name(item) in _BY_POSITION:
        return ""
    return str(getattr(item, "identifier", "") or getattr(item, "name", ""))
