"""What a verification and a decision are about: the files of an episode that they rest on, by their SHA-256."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from recorder.plain_files import NotPlain, hash_plain, list_plain

SUBJECT = ("trajectory.jsonl", "episode.json", "final_script.py", "scene.blend", "output.mp4")
"""With these, every file of `task/`."""


def subject_of(root: Path) -> dict[str, str]:
    """Name -> SHA-256 of each of these files that is there, and plain."""
    return hashes_of(root, [*SUBJECT, *list_plain(root, "task")])


def hashes_of(root: Path, names: Iterable[str]) -> dict[str, str]:
    """Name -> SHA-256 of those files that are there, and plain."""
    found = {}
    for name in names:
        try:
            found[name] = hash_plain(root, name)[0]
        except NotPlain:
            continue
    return found


def changed_since(about: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Names of files that are other ones now: changed, gone, or new."""
    return sorted(name for name in about.keys() | now.keys() if about.get(name) != now.get(name))
