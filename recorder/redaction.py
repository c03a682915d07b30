"""Takes secrets and host paths out of everything before it is written. Works on JSON values, so JSON stays valid.

Covers: values of environment variables that hold a secret by their name, secrets passed in the config, key-shaped
strings of well-known services, and known folders of this machine; each also as it stands inside a JSON string (tool
calls carry their arguments as one). Which values of a config are secrets says recorder/config_secrets.py. Does not
cover: secrets in pictures, encoded in other ways, or so short that they are part of ordinary words.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL", re.IGNORECASE)
_SECRET_FIELD = re.compile(
    r"(?:api|access|private|auth)[_-]?(?:key|token)|secret|passw(?:or)?d|credential|^authorization$|[_-]token$",
    re.IGNORECASE,
)
_MIN_SECRET_LENGTH = 8
_MIN_MIXED_LENGTH = 6
"""Of a secret that is no word: it holds letters and digits."""
KEY_SHAPES = re.compile(
    r"""\b(?:
      sk-[A-Za-z0-9_-]{16,}                       # OpenAI, Anthropic, OpenRouter
    | (?:ghp|gho|ghs|ghu|ghr)_[A-Za-z0-9]{30,} | github_pat_[A-Za-z0-9_]{30,}
    | hf_[A-Za-z0-9]{24,}
    | AKIA[0-9A-Z]{16} | ASIA[0-9A-Z]{16}
    | AIza[0-9A-Za-z_-]{30,}
    | gsk_[A-Za-z0-9]{20,} | xai-[A-Za-z0-9]{20,}
    | xox[baprs]-[A-Za-z0-9-]{10,}
    )|(?<=://)[^\s:/@]+:[^\s/@]+(?=@)               # user:password of a URL
    |(?<=Bearer\s)(?:[A-Za-z0-9._~+/=-]{20,}|(?=[A-Za-z._~+/=-]*[0-9])[A-Za-z0-9._~+/=-]{6,})""",
    re.VERBOSE,
)
REMOVED = "[removed: {kind}]"


def is_secret_name(name: str) -> bool:
    """Whether an environment variable of this name may hold a secret (deliberately wide)."""
    return bool(_SECRET_NAME.search(name))


def is_secret_field(name: str) -> bool:
    """Whether a field of a config or a request holds a secret (`api_key`, not `keyframes` or `max_tokens`)."""
    return bool(_SECRET_FIELD.search(name))


class Redactor:
    """Replaces secrets and host paths in strings; counts what it replaced, by kind."""

    def __init__(self, *, secrets: Iterable[str] = (), folders: Mapping[str, str] | None = None) -> None:
        """`folders`: path of this machine -> what to write instead. Longer paths are replaced first."""
        self.counts: Counter[str] = Counter()
        known = {form for s in secrets if _is_no_word(s) for form in _forms(s)}
        self._secrets = sorted(known, key=len, reverse=True)
        pairs = {path.rstrip("/"): shown for path, shown in (folders or {}).items() if len(path.rstrip("/")) > 1}
        ordered = sorted(pairs.items(), key=lambda pair: len(pair[0]), reverse=True)
        self._folders = [(_folder_pattern(path), shown) for path, shown in ordered]

    @classmethod
    def for_this_machine(cls, *, secrets: Iterable[str] = (), folders: Mapping[str, str] | None = None) -> "Redactor":
        """One that knows the secrets of the environment, the home folder and this project's own place."""
        from_environment = [value for name, value in os.environ.items() if is_secret_name(name)]
        project = Path(__file__).resolve().parent.parent
        known = {str(project): "<project>", str(Path.home()): "<home>", **(folders or {})}
        return cls(secrets=[*from_environment, *secrets], folders=known)

    def clean(self, value: Any) -> Any:
        """`value` with every string in it cleaned; values under a key that names a secret are removed whole."""
        if isinstance(value, str):
            return self._clean_text(value)
        if isinstance(value, Mapping):
            return {self._clean_text(str(k)): self._clean_member(str(k), v) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return [self.clean(item) for item in value]
        return value

    def clean_texts(self, value: Any) -> Any:
        """The same for what a script made, where keys are its names: nothing is removed for the name alone."""
        if isinstance(value, str):
            return self._clean_text(value)
        if isinstance(value, Mapping):
            return {self._clean_text(str(k)): self.clean_texts(v) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return [self.clean_texts(item) for item in value]
        return value

    def _clean_member(self, key: str, value: Any) -> Any:
        # a number is a count (as in an end line's `redactions`), not a secret
        holds_secret = is_secret_field(key) and value and isinstance(value, str | Mapping | list | tuple)
        if holds_secret and not (isinstance(value, str) and value.startswith("[removed")):
            self.counts["secret"] += 1
            return REMOVED.format(kind="secret")
        return self.clean(value)

    def _clean_text(self, text: str) -> str:
        for secret in self._secrets:
            if secret in text:
                self.counts["secret"] += text.count(secret)
                text = text.replace(secret, REMOVED.format(kind="secret"))
        text, n = KEY_SHAPES.subn(REMOVED.format(kind="key"), text)
        self.counts["key"] += n
        for folder, shown in self._folders:
            text, n = folder.subn(shown, text)
            self.counts["path"] += n
        return text


def _is_no_word(secret: str) -> bool:
    """Whether it may be taken out of every text: `false` and `test` may not."""
    is_mixed = any(c.isdigit() for c in secret) and any(c.isalpha() for c in secret)
    return len(secret) >= (_MIN_MIXED_LENGTH if is_mixed else _MIN_SECRET_LENGTH)


def _forms(secret: str) -> set[str]:
    """The secret as it is, and as it stands inside a JSON string."""
    return {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}


def _folder_pattern(path: str) -> re.Pattern[str]:
    """`/root` is also an ordinary end of another path (`rig/root`): a top-level folder must not follow a name."""
    before = r"(?<![\w.-])" if path.count("/") == 1 else ""
    forms = "|".join(re.escape(form) for form in sorted(_forms(path), key=len, reverse=True))
    return re.compile(f"{before}(?:{forms})(?![\\w.-])")
