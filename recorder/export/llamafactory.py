"""`llamafactory`: sharegpt rows that its converter takes whole, and the entry of dataset_info.json.

Its `openai` form loses the text beside a call; in its sharegpt form a `function_call` keeps reasoning, text and call.
"""

import json
from pathlib import Path

from recorder.export.canonical import trained_turns
from recorder.export.conversation import Turn
from recorder.export.flat import call_json
from recorder.export.forging import RefusedRow, defused
from recorder.export.formats import JsonLines, Options, Outcome
from recorder.export.sample import Sample
from recorder.records import ImagePart

_ROLES = {"user": "human", "tool": "observation"}
_ASKING = ("human", "observation")
_COLUMNS = {"messages": "conversations", "system": "system", "tools": "tools", "images": "images"}


class LlamaFactory:
    """`formats/llamafactory/blendscribe.jsonl` and `dataset_info.json`; `media_dir` is the data set's folder."""

    def __init__(self, root: Path, _options: Options) -> None:
        self.outcome = Outcome("llamafactory")
        self._root = root
        self._file = JsonLines(root, "formats/llamafactory/blendscribe.jsonl", self.outcome)

    def add(self, sample: Sample) -> None:
        """Raises RefusedRow where turns do not alternate, or hold structure."""
        turns = defused(trained_turns(sample), self.outcome.escaped)
        system = "\n".join(turn.text for turn in turns if turn.role == "system")
        row = {
            "id": sample.name,
            "conversations": _conversations(turns),
            "system": system,
            "tools": json.dumps(sample.tools, ensure_ascii=False),
            "images": [sample.image_path(image.path) for turn in turns for image in turn.images],
        }
        self._file.write(row)

    def close(self) -> None:
        """Write dataset_info.json, where there are rows."""
        if self.outcome.n_rows:
            name = Path(self._file.name).name
            entry = {"blendscribe": {"file_name": name, "formatting": "sharegpt", "columns": _COLUMNS}}
            path = self._root / "formats/llamafactory/dataset_info.json"
            path.write_text(json.dumps(entry, indent=2) + "\n", encoding="utf-8")


def _conversations(turns: list[Turn]) -> list[dict[str, str]]:
    """Human or observation, then gpt or function_call, and so on. Raises RefusedRow."""
    said: list[dict[str, str]] = []
    for turn in turns:
        if turn.role == "system":
            continue
        new = _said(turn)
        if said and said[-1]["from"] in _ASKING and new["from"] in _ASKING:
            said[-1] = {"from": new["from"], "value": f"{said[-1]['value']}\n{new['value']}"}  # parallel calls
        else:
            said.append(new)
    for number, item in enumerate(said):
        if (item["from"] in _ASKING) != (number % 2 == 0):
            raise RefusedRow("two replies follow each other, which its converter does not take")
    return said


def _said(turn: Turn) -> dict[str, str]:
    if turn.role == "assistant":
        thought = f"<think>\n{turn.reasoning}\n</think>\n\n" if turn.reasoning else ""
        value = f"{thought}{turn.text}{_calls(turn)}"
        return {"from": "function_call" if turn.calls else "gpt", "value": value.strip()}
    text = "".join("<image>" if isinstance(part, ImagePart) else part.text for part in turn.parts)
    return {"from": _ROLES[turn.role], "value": text}


def _calls(turn: Turn) -> str:
    """Its formatter looks at one `<tool_call>` alone: parallel calls are a list in it."""
    written = [call_json(call) for call in turn.calls]
    if not written:
        return ""
    inside = written[0] if len(written) == 1 else "[" + ", ".join(written) + "]"
    return f"\n<tool_call>{inside}</tool_call>"
