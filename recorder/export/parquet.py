"""`parquet`: one file with the pictures' bytes inside, for the Hub's viewer, verl, and whoever wants a single file.

Messages are role and text (calls, reasoning and tools as in `vlm-flat`), `<image>` stands for the next of `images`.
"""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from recorder.export.canonical import trained_turns
from recorder.export.conversation import Turn
from recorder.export.flat import reply_text, tools_text
from recorder.export.forging import defused
from recorder.export.formats import Options, Outcome
from recorder.export.sample import Sample
from recorder.plain_files import read_plain
from recorder.records import ImagePart

_MAX_WAITING_BYTES = 16 << 20
"""Pictures in memory before they are written."""
_TEXTS = ("id", "task_id", "model_id", "label", "license")
_FEATURES: dict[str, Any] = {
    "id": {"dtype": "string", "_type": "Value"},
    "messages": [{"role": {"dtype": "string", "_type": "Value"}, "content": {"dtype": "string", "_type": "Value"}}],
    "images": [{"_type": "Image"}],
    "reward": {"dtype": "float64", "_type": "Value"},
    "score": {"dtype": "float64", "_type": "Value"},
    **{name: {"dtype": "string", "_type": "Value"} for name in _TEXTS[1:]},
}
SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("messages", pa.list_(pa.struct([("role", pa.string()), ("content", pa.string())]))),
        ("images", pa.list_(pa.struct([("bytes", pa.binary()), ("path", pa.string())]))),
        ("reward", pa.float64()),
        ("score", pa.float64()),
        *((name, pa.string()) for name in _TEXTS[1:]),
    ],
    metadata={"huggingface": json.dumps({"info": {"features": _FEATURES}})},
)


class Parquet:
    """`formats/parquet/train.parquet`."""

    def __init__(self, root: Path, _options: Options) -> None:
        self.outcome = Outcome("parquet")
        self._name = "formats/parquet/train.parquet"
        self._path = root / self._name
        self._writer: pq.ParquetWriter | None = None
        self._waiting: list[dict[str, Any]] = []
        self._n_bytes = 0

    def add(self, sample: Sample) -> None:
        """Raises RefusedRow for a row that holds structure."""
        turns = defused(trained_turns(sample), self.outcome.escaped)
        images = [
            {"bytes": read_plain(sample.root, image.path), "path": Path(image.path).name}
            for turn in turns
            for image in turn.images
        ]
        row = {"id": sample.name, "messages": _messages(sample, turns), "images": images, "reward": sample.reward}
        row["score"] = sample.score.weighted if sample.score else None
        row |= {"task_id": sample.header.task_id, "model_id": sample.header.model}
        self._waiting.append(row | {"label": sample.label, "license": sample.license})
        self._n_bytes += sum(len(image["bytes"]) for image in images)
        self.outcome.files[self._name] += 1
        if self._n_bytes > _MAX_WAITING_BYTES:
            self._write()

    def close(self) -> None:
        """Write what waits, and the file's end."""
        self._write()
        if self._writer:
            self._writer.close()

    def _write(self) -> None:
        if not self._waiting:
            return
        if self._writer is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._writer = pq.ParquetWriter(self._path, SCHEMA)
        self._writer.write_table(pa.Table.from_pylist(self._waiting, schema=SCHEMA))
        self._waiting, self._n_bytes = [], 0


def _messages(sample: Sample, turns: list[Turn]) -> list[dict[str, str]]:
    """Role and text; the answers to parallel calls are one message."""
    said: list[dict[str, str]] = []
    for turn in turns:
        new = {"role": "user" if turn.role == "tool" else turn.role, "content": _text(sample, turn)}
        if said and said[-1]["role"] == new["role"] == "user":
            said[-1]["content"] += f"\n{new['content']}"
        else:
            said.append(new)
    return said


def _text(sample: Sample, turn: Turn) -> str:
    if turn.role == "assistant":
        return reply_text(turn)
    text = "".join("<image>" if isinstance(part, ImagePart) else part.text for part in turn.parts)
    if turn.role == "tool":
        return f"<tool_response>\n{text}\n</tool_response>"
    return text + tools_text(sample.tools) if turn.role == "system" else text
