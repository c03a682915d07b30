"""Where the data set lies that the consumers read. Imported by files that other environments' pytest runs."""

import json
import os
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")

ROOT = Path(os.environ["BLENDSCRIBE_DATASET"]).resolve()


def rows(name: str) -> list[dict[str, Any]]:
    """The rows of a JSON lines file."""
    return [json.loads(line) for line in (ROOT / name).read_text(encoding="utf-8").splitlines()]
