"""The dataset card: README.md with the front matter that the Hugging Face Hub and `datasets` read, and the history.

`dataset_info.features` stands for the files whose rows are plain structs. It does not for the trajectories: stated
features would make `datasets` put nulls where a message lacks a key (`tool_calls` of a tool's answer), which it does
not from 4.7 on without them, and every row of such a file has one form, so that guessing from the first block is safe.
"""

from collections import Counter
from typing import Any

import yaml

from recorder.export.formats import Options
from recorder.export.history import History, Seen, duplicate_lines

CONFIGS = {
    "agentic": "train/agentic_trajectories.jsonl",
    "agentic_text": "train/agentic_trajectories_text.jsonl",
    "agentic_tools": "train/agentic_trajectories_tools.jsonl",
    "agentic_tools_text": "train/agentic_trajectories_tools_text.jsonl",
    "instruction_to_script": "train/instruction_to_script.jsonl",
    "vlm_flat": "formats/vlm-flat/train.jsonl",
}
"""Config -> the file that it loads, where it has rows. All are JSON lines: `datasets` takes one kind of file a card."""
_STRING = "string"
_SCRIPT_FEATURES: list[dict[str, Any]] = [
    {"name": "schema_version", "dtype": "int64"},
    {"name": "id", "dtype": _STRING},
    {"name": "form", "dtype": _STRING},
    {"name": "messages", "list": [{"name": "role", "dtype": _STRING}, {"name": "content", "dtype": _STRING}]},
    {"name": "task_id", "dtype": _STRING},
    {"name": "task_kind", "dtype": _STRING},
    {"name": "model_id", "dtype": _STRING},
    {"name": "reward", "dtype": "float64"},
    {"name": "success", "dtype": "bool"},
    {"name": "label", "dtype": _STRING},
    {"name": "license", "dtype": _STRING},
]
FEATURES: dict[str, list[dict[str, Any]]] = {"instruction_to_script": _SCRIPT_FEATURES}
_MAX_LISTED = 200

_BODY = """
# Blender work by language models

Episodes of models that did Blender work by writing Python, recorded by blendscribe step by step: what the model was
told, what it said and called, what the harness ran and measured, and every picture it was shown. Only what the
harness's own final execution passed is labelled `accepted`.

## Files

| config | file | rows |
|---|---|---|
{files}
Paths of pictures are relative to this folder: load with it as the working folder. `agentic*` rows are the conversations
turn by turn, up to the last reply (`_text`: the pictures left out, told by `[picture]`). In `agentic_tools*`, rows with
other tools than the scene's `run_blender(code)`, `arguments` and `tools` are JSON strings: `json.loads` them.
`instruction_to_script` is single-turn: brief -> final script, which no model wrote in one turn.
`samples/<name>/` holds the whole record, task, pictures, script and scene or video; [SCHEMAS.md](SCHEMAS.md) has every
file's fields, `manifest.json` every file's SHA-256. `blendscribe verify --integrity` checks all of it.

Text that chat templates take for structure (`<image>`, `<|im_end|>`, `</tool_response>`…) is escaped by a space in what
the model read, and rows where the model wrote such text are left out of the train files:
{forging}
## History

{counts}
{runs}
## Likes

Tasks with the same or nearly the same brief, and scripts (MinHash of 5-word shingles, similarity from 0.8 on). None was
dropped.

{likes}
"""


def card(history: History, options: Options) -> str:
    """The whole file."""
    rows = _rows(history)
    front = {
        "license": options.license,
        "pretty_name": "Blender work by language models",
        "tags": ["agent", "tool-use", "blender", "code", "trajectories"],
        "task_categories": ["text-generation", "image-text-to-text"],
        "configs": [_config(name, path) for name, path in CONFIGS.items() if rows[path]],
        "dataset_info": [
            {"config_name": name, "features": features} for name, features in FEATURES.items() if rows[CONFIGS[name]]
        ],
    }
    text = yaml.safe_dump(front, sort_keys=False, allow_unicode=True, width=120)
    body = _BODY.format(
        files="".join(f"| `{name}` | `{path}` | {rows[path]} |\n" for name, path in CONFIGS.items() if rows[path]),
        forging=_forging(history),
        counts=_counts(history),
        runs=_table(history.seen),
        likes="\n".join(f"- {line}" for line in duplicate_lines(history)[:_MAX_LISTED]) or "None was found.",
    )
    return f"---\n{text}---\n{body}"


def _config(name: str, path: str) -> dict[str, Any]:
    return {"config_name": name, "data_files": [{"split": "train", "path": path}]}


def _rows(history: History) -> Counter[str]:
    rows: Counter[str] = Counter()
    for outcome in history.outcomes:
        rows += outcome.files
    return rows


def _forging(history: History) -> str:
    lines = []
    for outcome in history.outcomes:
        n = sum(outcome.escaped.counts.values())
        lines.append(f"- {outcome.name}: {n} escaped, {len(outcome.refused)} rows refused")
        lines += [f"  - `{name}`: {why}" for name, why in list(outcome.refused.items())[:_MAX_LISTED]]
    return "\n".join(lines) + "\n"


def _counts(history: History) -> str:
    fates = Counter(one.fate for one in history.seen)
    models = Counter(one.model for one in history.seen if one.model)
    versions = Counter(pair for one in history.seen for pair in one.versions)
    made = ", ".join(f"{name} {value} ({n})" for (name, value), n in sorted(versions.items()) if value)
    return "\n".join(
        [
            f"- episodes: {len(history.seen)} ({', '.join(f'{n} {fate}' for fate, n in sorted(fates.items()))})",
            f"- models: {', '.join(f'{name} ({n})' for name, n in sorted(models.items()))}",
            f"- versions: {made}",
            "",
        ]
    )


def _table(seen: list[Seen]) -> str:
    """Every attempt, what became of it and why."""
    rows = [
        f"| {one.episode} | {one.label or ''} | {one.fate} | {one.n_steps} | "
        f"{'' if one.score is None else f'{one.score:.3f}'} | "
        f"{'unknown' if one.cost_usd is None else f'{one.cost_usd:.4f}'} | {_cell(one.reason)} |"
        for one in seen
    ]
    return "\n".join(
        ["| episode | label | here | steps | score | USD | why |", "|---|---|---|---|---|---|---|", *rows, ""]
    )


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())[:300]
