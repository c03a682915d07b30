"""The table of formats. A new one is a file of its own and a line here; it is imported only when it is asked for."""

from collections.abc import Sequence
from importlib import import_module

from recorder.export.canonical import Scripts, Trajectories
from recorder.export.formats import FormatClass

FORMATS: dict[str, tuple[str, str]] = {
    "vlm-flat": ("recorder.export.flat", "VlmFlat"),
    "llamafactory": ("recorder.export.llamafactory", "LlamaFactory"),
    "atif": ("recorder.export.atif", "Atif"),
    "parquet": ("recorder.export.parquet", "Parquet"),
    "openai": ("recorder.export.openai", "OpenAi"),
    "sts": ("recorder.export.sts", "Sts"),
    "nemo-gym": ("recorder.export.nemo_gym", "NemoGym"),
    "traj": ("recorder.export.traj", "Traj"),
}
"""Name -> (module, class)."""


class UnknownFormat(Exception):
    """A format that there is not; the text lists those that there are."""


def classes_of(names: Sequence[str]) -> list[FormatClass]:
    """The canonical files, then the formats asked for, each once. Raises UnknownFormat."""
    classes: list[FormatClass] = [Trajectories, Scripts]
    for name in dict.fromkeys(names):
        if name not in FORMATS:
            raise UnknownFormat(f"there is no format '{name}'. There are: {', '.join(FORMATS)}")
        module, class_name = FORMATS[name]
        classes.append(getattr(import_module(module), class_name))
    return classes
