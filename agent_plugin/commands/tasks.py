"""`blendscribe tasks`: examine a task list, show, sample and hash it."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from agent_plugin.tasks import Task

tasks = typer.Typer(no_args_is_help=True, help="Examine a task list, show a task, sample or hash the list.")

TaskList = Annotated[Path, typer.Argument(metavar="LIST", help="A .yaml or .jsonl file, or a folder of task folders.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print as JSON.")]


@tasks.command()
def validate(path: TaskList) -> None:
    """Report every fault of a list, or how many tasks it has.

    Settings are checked as with the default config. Exit status: 0 the list is sound, 2 it has faults, each a line on
    stderr.
    """
    from collections import Counter

    from agent_plugin.task_list import read_tasks

    kinds: Counter[str] = Counter()
    having: Counter[str] = Counter()
    n_faulty = 0
    for read in read_tasks(path):
        n_faulty += bool(read.faults)
        for fault in read.faults:
            print(f"error: {fault}", file=sys.stderr)
        if task := read.task:
            kinds[task.kind] += 1
            given = ("start_file", "checks", "rubric")
            having.update(key.replace("_", " ") for key in given if getattr(task, key) is not None)
    by_kind = ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items()))
    if n_faulty:
        print(f"error: {path}: {n_faulty} of {n_faulty + kinds.total()} tasks have faults", file=sys.stderr)
        raise typer.Exit(2)
    with_parts = "".join(f"; {n} with {part}" for part, n in sorted(having.items()))
    print(f"{path}: {kinds.total()} sound tasks: {by_kind}{with_parts}.")


@tasks.command()
def show(
    path: TaskList,
    task_id: Annotated[str, typer.Argument(metavar="ID", help="The task's id.")],
    as_json: AsJson = False,
) -> None:
    """Show one task as an episode would have it: brief, every setting of the harness, limits, checks, rubric, hash."""
    from agent_plugin.config import load_config

    base = load_config([]).environment.harness
    task = _find(path, task_id)
    shown = _resolved(task, task.settings(base).model_dump(mode="json"))
    if as_json:
        print(json.dumps(shown, indent=2))
        return
    import yaml

    fixed = (
        f"# fixed by the task: {', '.join(task.harness) or 'nothing'}; the rest of `harness` is the default config's"
    )
    print(f"{fixed}\n{yaml.safe_dump(shown, sort_keys=False, allow_unicode=True, width=100)}", end="")


@tasks.command(name="sample")
def sample_tasks(
    path: TaskList,
    n: Annotated[int, typer.Option("-n", min=1, help="How many tasks; all, if the list has no more.")],
    seed: Annotated[int, typer.Option(help="The same list, number and seed give the same tasks.")] = 0,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write them here (.jsonl) instead of to stdout.")
    ] = None,
) -> None:
    """Draw tasks, each as likely as any other, without repetition, as JSON lines in the order of the list.

    Each line is complete: briefs, checks and rubrics from files are inside. A start file is named relative to the
    output's folder, or absolutely on stdout. The tasks keep their hashes.
    """
    from agent_plugin.faults import bad_input
    from agent_plugin.task_export import sample, task_line
    from agent_plugin.task_list import read_tasks, sound

    if output and output.suffix != ".jsonl":
        raise bad_input("must end in .jsonl", file=f"-o {output}")
    drawn = sample((task for read in sound(read_tasks(path)) if (task := read.task)), n, seed)
    text = "".join(task_line(task, output.parent if output else None) for task in drawn)
    if output is None:
        sys.stdout.write(text)
        return
    try:
        with output.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise bad_input(f"cannot be written ({error.strerror})", file=str(output)) from error
    print(f"{output}: {len(drawn)} tasks.")


@tasks.command(name="hash")
def hash_tasks(path: TaskList, as_json: AsJson = False) -> None:
    """Print the SHA-256 of each task, which run.json and episodes hold, and last of the list.

    The list's hash is that of a line `ID HASH` for each task, in order of id: it depends on neither the order nor the
    form of the list.
    """
    from agent_plugin.task_index import list_hash
    from agent_plugin.task_list import read_tasks, sound

    found = {task.id: task.sha256 for read in sound(read_tasks(path)) if (task := read.task)}
    whole = list_hash(found.items())
    if as_json:
        print(json.dumps({"list": whole, "tasks": found}, indent=2))
        return
    for task_id, sha256 in found.items():
        print(f"{sha256}  {task_id}")
    print(f"{whole}  (the list, {len(found)} tasks)")


def _find(path: Path, task_id: str) -> "Task":
    """The task of that id, whatever is wrong with others. Raises BadInput where there is none, or it has faults."""
    import difflib

    from agent_plugin.faults import BadInput, Fault, bad_input
    from agent_plugin.task_list import read_tasks

    ids: list[str] = []
    faults: list[Fault] = []
    for read in read_tasks(path):
        if read.task and read.task.id == task_id:
            return read.task
        ids += [read.task.id] if read.task else []
        faults += read.faults
    if faults:
        raise BadInput([*faults, Fault(str(path), "", f"no sound task has the id '{task_id}'")])
    near = difflib.get_close_matches(task_id, ids, n=3)
    meant = f"Did you mean {' or '.join(repr(name) for name in near)}?" if near else f"The first ones: {ids[:5]}"
    raise bad_input(f"there is no task '{task_id}'. {meant}", file=str(path))


def _resolved(task: "Task", harness: dict[str, Any]) -> dict[str, Any]:
    stated = task.model_dump(mode="json")
    return {**stated, "harness": harness, "sha256": task.sha256}
