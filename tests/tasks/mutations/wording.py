"""Statements that several modules of mutations need, as text: they run in Blender, in the words of `mutating.py`."""


def each_key(name: str, change: str, data_path: str = "") -> str:
    """`change` every key `k` of the object's curves `c`."""
    return (
        f"for c in curves({name!r}, {data_path!r}):\n    for k in c.keyframe_points:\n        {change}\n    c.update()"
    )


def drifts(name: str, axis: str, by: float, end: int) -> str:
    """The object goes along an axis of its own space, from frame 1 to `end`."""
    return (
        f"o = obj({name!r})\no.keyframe_insert('location', frame=1)\n"
        f"o.location.{axis} += {by}\no.keyframe_insert('location', frame={end})"
    )
