"""`blendscribe run`: episodes over a task list."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.sandbox.level import LevelName

if TYPE_CHECKING:
    from agent_plugin.launch_plan import RunPlan

_NO_MODEL = "no model: name one with -m, or give a config that does, such as -c models/anthropic.yaml"
_LEAST_ISOLATION: LevelName = "bwrap"
_SCALE = "At scale (each is a key of the config, launch.…, too)"
_LIMITS = "Limits of the run (launch.… too)"


def run(
    tasks: Annotated[Path, typer.Argument(help="Task list: a .yaml or .jsonl file, or a folder of task folders.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder of the run; the same command continues it.")],
    model: Annotated[
        list[str] | None,
        typer.Option(
            "-m",
            "--model",
            help="Model, by its litellm name, or scripted/<name>. Repeatable. Without: model.model_name of the config.",
        ),
    ] = None,
    config: Annotated[
        list[str] | None,
        typer.Option(
            "-c",
            "--config",
            help="YAML file or a.b.c=value, merged over the default config. Repeatable. models/NAME.yaml is a ready "
            "file for a provider or local server.",
        ),
    ] = None,
    attempts: Annotated[int, typer.Option(min=1, max=1000, help="How often each task is tried by each model.")] = 1,
    workers: Annotated[
        int, typer.Option("-w", "--workers", min=1, max=256, help="Episodes at the same time; waiting costs little.")
    ] = 1,
    resume: Annotated[
        bool, typer.Option("--resume", help="Only continue: refuse a folder that holds no run. The rest is the same.")
    ] = False,
    allow_changed: Annotated[
        bool, typer.Option("--allow-changed", help="Continue a run whose tasks, models or config have changed.")
    ] = False,
    allow_isolation: Annotated[
        LevelName | None,
        typer.Option(
            help="Weakest isolation of the model's code to start with; the level is measured. Without: bwrap."
        ),
    ] = None,
    blender_slots: Annotated[
        int | None,
        typer.Option(min=1, help="Blenders that work at once. Without: by cores and memory.", rich_help_panel=_SCALE),
    ] = None,
    retry: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CLASS=N",
            help="Play an episode again that was lost in this way, N times at most in this launch. CLASS as in "
            "docs/reference.md, or all. Repeatable.",
            rich_help_panel=_SCALE,
        ),
    ] = None,
    min_free_disk: Annotated[
        int | None,
        typer.Option(min=0, help="MiB to keep free on the run's disk (1024).", rich_help_panel=_SCALE),
    ] = None,
    cost_limit: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="US dollars, all launches; no model call begins beyond it. 0: none.",
            rich_help_panel=_LIMITS,
        ),
    ] = None,
    allow_unknown_cost: Annotated[
        bool,
        typer.Option(
            "--allow-unknown-cost", help="With a cost limit: count unknown costs as nothing.", rich_help_panel=_LIMITS
        ),
    ] = False,
) -> None:
    """Run an agent on every task, record each step, and judge what it hands in.

    Exit status: 0 every episode passed, 1 some failed or have no result, 2 the input is wrong (nothing was
    started), 130 stopped.
    """
    from rich.console import Console

    from agent_plugin.faults import bad_input
    from agent_plugin.interruption import interruptible
    from agent_plugin.launcher import run_all
    from agent_plugin.progress import results_table, what_was_lost, where_to_look
    from agent_plugin.run_folder import lock_run, open_run
    from agent_plugin.run_watch import watching
    from agent_plugin.spending import Spending, Stop
    from harness.sweep import sweep
    from recorder.paths import RunPaths

    sweep()
    if resume and not RunPaths(output).run_file.is_file():
        raise bad_input("holds no run to continue; leave --resume away to begin one", file=str(output))
    options = {
        "blender_slots": blender_slots,
        "retry": _retries(retry or []),
        "min_free_disk_mb": min_free_disk,
        "cost_limit": cost_limit,
        "allow_unknown_cost": allow_unknown_cost or None,
    }
    plan = _plan(tasks, model or [], config or [], attempts, allow_isolation, options)
    paths = open_run(plan, output, allow_changed=allow_changed)
    console, stop = Console(), Stop()
    with lock_run(paths), interruptible(stop, console.print), watching(console, plan, paths, workers, stop) as progress:
        stop.spending = Spending(plan.config.launch, output)
        outcomes = run_all(plan, paths, n_workers=workers, watcher=progress, stop=stop)
    console.print(results_table(outcomes))
    for line in what_was_lost(outcomes):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    console.print(where_to_look(outcomes, output), markup=False, highlight=False, soft_wrap=True)
    if stop.is_for_limit:
        console.print(f"Stopped: {stop.why}. With a higher limit the same command goes on.", soft_wrap=True)
    elif stop.requested.is_set():
        raise typer.Exit(130)
    if not all(outcome.summary and outcome.summary.verdict == "pass" for outcome in outcomes):
        raise typer.Exit(1)


def _plan(
    tasks: Path,
    models: list[str],
    config: list[str],
    attempts: int,
    allow_isolation: LevelName | None,
    options: dict[str, Any],
) -> "RunPlan":
    """The run that the arguments mean. Raises BadInput with the faults of all of them at once."""
    from agent_plugin.config import load_config, with_launch, with_sandbox
    from agent_plugin.faults import BadInput, Fault
    from agent_plugin.launch_plan import RunPlan
    from agent_plugin.preflight import check_isolation, cost_faults, model_faults, provider_faults
    from agent_plugin.task_list import load_tasks

    faults: list[Fault] = []
    resolved = listed = None
    try:
        resolved = with_sandbox(load_config(config), "auto" if allow_isolation else "required")
        resolved = with_launch(resolved, options)
    except BadInput as error:
        faults += error.faults
    if resolved and not models:
        models = [resolved.model.model_name] if resolved.model.model_name else []
        faults += [] if models else [Fault("", "", _NO_MODEL)]
    faults = [*model_faults(models), *faults]
    try:
        listed = load_tasks(tasks, resolved.environment.harness if resolved else None)
    except BadInput as error:
        faults += error.faults
    if faults or resolved is None or listed is None:
        raise BadInput(faults)
    allowed = allow_isolation or _LEAST_ISOLATION
    measured = check_isolation([task.settings(resolved.environment.harness) for task in listed], allowed)
    if unreachable := provider_faults(models, resolved.model.model_kwargs):
        raise BadInput(unreachable)
    if unpriced := cost_faults(models, resolved):
        raise BadInput(unpriced)
    return RunPlan(tuple(listed), tuple(dict.fromkeys(models)), attempts, resolved, allowed, measured)


def _retries(given: list[str]) -> "dict[str, int] | None":
    """`CLASS=N` for each. Raises BadInput."""
    from agent_plugin.faults import bad_input
    from agent_plugin.losses import LOSSES

    found = {}
    for text in given:
        name, _, number = text.partition("=")
        if name not in (*LOSSES, "all") or not number.isdecimal():
            raise bad_input(
                f"must be CLASS=N with a CLASS of: all, {', '.join(LOSSES)} (it is {text!r})", file="--retry"
            )
        found[name] = int(number)
    return found or None
