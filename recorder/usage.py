"""Token counts out of what providers tell with an answer: chat's names, or those of the Responses API."""

from collections.abc import Iterable, Mapping
from typing import Any

from recorder.records import TokenCount

_NAMES = (("prompt_tokens", "completion_tokens"), ("input_tokens", "output_tokens"))


def count_tokens(usages: Iterable[Mapping[str, Any] | None]) -> TokenCount:
    """The sum over an episode's calls; a call whose provider told none, or no count, is counted as unknown."""
    prompt = completion = n_unknown = 0
    for usage in usages:
        counts = _counts(usage or {})
        if counts is None:
            n_unknown += 1
        else:
            prompt, completion = prompt + counts[0], completion + counts[1]
    return TokenCount(prompt=prompt, completion=completion, n_calls_unknown=n_unknown)


def _counts(usage: Mapping[str, Any]) -> tuple[int, int] | None:
    for names in _NAMES:
        n_in, n_out = (usage.get(name) for name in names)
        if _is_count(n_in) and _is_count(n_out) and (n_in or n_out):
            return int(n_in or 0), int(n_out or 0)
    return None


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
