"""Checks of geometry nodes: there, used, with the right inputs, and above all with an output that answers to them."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from harness.checks.check_type import AtFrame, CheckType, Count, CountBounds, Row, wanted
from harness.checks.conditions import Condition, shown
from harness.checks.materials import NodeName
from harness.checks.selectors import Selector
from harness.checks.verdict import Finding, Name, Record, failed, finding, names, passed, plural, unsure


class TreeFacts(Record):
    """One geometry nodes modifier."""

    modifier: Name
    group: Name
    is_on: bool
    is_linked: bool
    """The Group Output's geometry comes from somewhere."""
    passes_through: bool
    """It comes straight from the Group Input."""
    warnings: Annotated[list[Name], Field(max_length=20)]


class TreesRow(Row):
    """The geometry nodes modifiers of an object."""

    trees: Annotated[list[TreeFacts], Field(max_length=100)]


class GnModifier(CheckType[TreesRow], AtFrame):
    """Each target object has a geometry nodes modifier that is on, and whose group puts out more than what goes in.
    That it does something is `modifier_effective`'s question."""

    name: ClassVar[str] = "gn_modifier"
    group: ClassVar[str] = "geometry nodes"
    row: ClassVar[type[Row]] = TreesRow
    target: Selector
    node_group: str | None = None
    """Name of the node group."""
    allow_warnings: bool = True
    """Nodes may show errors or warnings."""

    def judge_row(self, row: TreesRow) -> Finding:
        chosen = [tree for tree in row.trees if self.node_group in (None, tree.group)]
        what = f"group '{self.node_group}'" if self.node_group else "a group"
        if not chosen:
            return failed(f"'{row.object}' has no geometry nodes modifier with {what}", [t.group for t in row.trees])
        faults = [self._fault(tree) for tree in chosen]
        measured = [tree.group for tree in chosen]
        if all(faults):
            return failed(f"Geometry nodes '{chosen[0].group}' of '{row.object}' {faults[0]}", measured)
        return passed(f"Geometry nodes '{chosen[faults.index('')].group}' of '{row.object}' put geometry out", measured)

    def _fault(self, tree: TreeFacts) -> str:
        if not tree.group:
            return "have no group"
        if not tree.is_on:
            return "are turned off"
        if not tree.is_linked:
            return "put nothing out"
        if tree.passes_through:
            return "only pass through what goes in"
        return f"warn: {tree.warnings[0]}" if tree.warnings and not self.allow_warnings else ""


class TreeNodesRow(Row):
    """Nodes that have a say in the geometry that is put out."""

    n: Count
    others: Annotated[list[Name], Field(max_length=100)]


class GnNodes(CheckType[TreeNodesRow], AtFrame):
    """The geometry nodes of each target object use a node: one that the Group Output depends on, in nested groups and
    zones too. Muted and unlinked nodes do not count."""

    name: ClassVar[str] = "gn_nodes"
    group: ClassVar[str] = "geometry nodes"
    row: ClassVar[type[Row]] = TreeNodesRow
    target: Selector
    node: NodeName
    """Blender's `bl_idname`, as `GeometryNodeDistributePointsOnFaces`."""
    min: Annotated[int, Field(ge=1)] = 1
    """Least number of them."""

    def judge_row(self, row: TreeNodesRow) -> Finding:
        text = f"The geometry nodes of '{row.object}' use {plural(row.n, self.node)} on the way to the output"
        return finding(row.n >= self.min, f"{text}; wanted: at least {self.min}", list(row.others))


class InputRow(Row):
    """An input of the modifier, by the name that people see."""

    exists: bool
    value: Any = None
    attribute: Name = ""
    """That gives it, where one does."""
    sockets: Annotated[list[Name], Field(max_length=200)]


class GnInput(CheckType[InputRow], AtFrame, Condition):
    """An input of the geometry nodes modifier of each target object has a value. Inputs are known by their names, not
    by `Socket_2`."""

    name: ClassVar[str] = "gn_input"
    group: ClassVar[str] = "geometry nodes"
    row: ClassVar[type[Row]] = InputRow
    target: Selector
    socket: Annotated[str, Field(min_length=1)]
    """Its name."""

    def judge_row(self, row: InputRow) -> Finding:
        if not row.exists:
            return failed(
                f"'{row.object}' has no input '{self.socket}'; there are: {names(list(row.sockets), 10) or 'none'}"
            )
        if row.attribute:
            return unsure(f"The input '{self.socket}' of '{row.object}' is given by the attribute '{row.attribute}'")
        text = f"The input '{self.socket}' of '{row.object}' is {shown(row.value)}; wanted: {self.wanted}"
        verdict = self.holds(row.value)
        return unsure(f"{text} cannot be compared", row.value) if verdict is None else finding(verdict, text, row.value)


class OutputRow(Row):
    """What an object's evaluated geometry consists of."""

    vertices: Count
    faces: Count
    instances: Count
    points: Count
    """Of point clouds."""
    curves: Count


Metric = Literal["vertices", "faces", "instances", "points", "curves"]


class GnOutput(CheckType[OutputRow], AtFrame, CountBounds):
    """How much evaluated geometry each target object gives. What only instances has no vertices of its own."""

    name: ClassVar[str] = "gn_output"
    group: ClassVar[str] = "geometry nodes"
    row: ClassVar[type[Row]] = OutputRow
    target: Selector
    of: Metric
    """What is counted."""

    def judge_row(self, row: OutputRow) -> Finding:
        n = getattr(row, self.of)
        text = f"'{row.object}' gives {n} {self.of}; wanted: {wanted(self.min, self.max)}"
        return finding(
            self.holds(n), text, row.model_dump(include={"vertices", "faces", "instances", "points", "curves"})
        )


class State(Record):
    """What an object's geometry is with one value of the input."""

    vertices: Count
    faces: Count
    instances: Count
    points: Count
    curves: Count
    size: tuple[float, float, float]
    """Of the box around everything, instances included."""
    shape: Name
    """A hash of all positions."""


class RespondsRow(Row):
    """Before and after."""

    exists: bool
    sockets: Annotated[list[Name], Field(max_length=200)]
    before: State | None = None
    after: State | None = None


class GnResponds(CheckType[RespondsRow], AtFrame):
    """Changing an input of the geometry nodes modifier changes what each target object gives: the tree is parametric.
    Tried in the opened copy."""

    name: ClassVar[str] = "gn_responds"
    group: ClassVar[str] = "geometry nodes"
    row: ClassVar[type[Row]] = RespondsRow
    changes_scene: ClassVar[bool] = True
    target: Selector
    socket: Annotated[str, Field(min_length=1)]
    """Name of the input."""
    to: bool | int | float | tuple[float, float, float]
    """The value it is set to."""
    start: bool | int | float | tuple[float, float, float] | None = None
    """The value it is set to before; without it, the one that it has."""
    metric: Literal["any", "vertices", "faces", "instances", "points", "curves", "size"] = "any"
    """What has to change; `any`: positions too."""
    change: Literal["differs", "grows", "shrinks"] = "differs"
    """How; of `size` the largest side counts."""

    def judge_row(self, row: RespondsRow) -> Finding:
        if not row.exists:
            return failed(
                f"'{row.object}' has no input '{self.socket}'; there are: {names(list(row.sockets), 10) or 'none'}"
            )
        if row.before is None or row.after is None:
            return unsure(f"'{row.object}' could not be tried")
        one, other = self._value(row.before), self._value(row.after)
        is_good = one != other
        if self.change != "differs" and self.metric != "any":
            is_good = other > one if self.change == "grows" else other < one
        text = (
            f"Setting '{self.socket}' of '{row.object}' to {shown(self.to)} takes {self.metric} from {one} to {other}"
        )
        if self.metric == "any":
            text = (
                f"Setting '{self.socket}' of '{row.object}' to {shown(self.to)} {'changes' if is_good else 'leaves'} it"
            )
        return finding(is_good, text, {"before": row.before.model_dump(), "after": row.after.model_dump()})

    def _value(self, state: State) -> Any:
        if self.metric == "any":
            return state
        return round(max(state.size), 5) if self.metric == "size" else getattr(state, self.metric)
