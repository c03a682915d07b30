"""A run on a terminal while it goes on: bars, what runs, what is held back. Never higher than the screen."""

from rich.text import Text

from agent_plugin.plain_words import about, cost, duration
from agent_plugin.run_counts import ModelCounts, RunCounts, Running
from harness.plain_text import plain

_BAR = 20
_MOST_MODELS = 8


def live_view(counts: RunCounts, width: int, height: int) -> Text:
    """At most `height` lines of at most `width` characters; says what it leaves out."""
    lines = [_overall(counts), *_models(counts, min(_MOST_MODELS, max(1, height // 3)))]
    lines += [Text(_held_back(model, why), "yellow") for model, why in counts.pauses.items()]
    lines = lines[: max(1, height - 1)]
    lines += _running(counts, height - len(lines))
    for line in lines:
        line.truncate(max(1, width), overflow="ellipsis")
    return Text("\n").join(lines)


def summary_line(counts: RunCounts) -> str:
    """The whole run in one line, for a log."""
    total = counts.total
    parts = [f"{total.n_ended} of {total.n_episodes} ended: {_verdicts(total)}", f"{len(counts.running)} running"]
    parts += [f"cost {cost(counts.usd, is_known=counts.is_cost_known)}", *_time(counts)]
    return "; ".join(parts)


def running_line(running: Running, now: float) -> str:
    """What one worker does."""
    what = f"waits for {running.waits_for}" if running.waits_for else running.what
    step = f"step {running.step}: {what}" if running.step else what
    key = running.key
    return f"{key.task.id} · {key.model} · {key.attempt}  {step}  {duration(now - running.began)}"


def _held_back(model: str, why: str) -> str:
    return f"held back: {model or 'all models'}: {' '.join(plain(why).split())}"


def _overall(counts: RunCounts) -> Text:
    line = _bar(counts.total)
    line.append(f"  {cost(counts.usd, is_known=counts.is_cost_known)}")
    for part in _time(counts):
        line.append(f"  {part}")
    return line


def _models(counts: RunCounts, most: int) -> list[Text]:
    if len(counts.models) < 2:
        return []
    lines = [_bar(of_model).append(f"  {model}") for model, of_model in counts.models.items()]
    return lines if len(lines) <= most else [*lines[: most - 1], Text(f"… and {len(lines) - most + 1} more models")]


def _running(counts: RunCounts, room: int) -> list[Text]:
    """The longest running first: they are what somebody looks for."""
    now, all_running = counts.clock(), sorted(counts.running.values(), key=lambda one: one.began)
    if room <= 0:
        return []
    shown = all_running if len(all_running) <= room else all_running[: room - 1]
    lines = [Text(f"  {running_line(one, now)}") for one in shown]
    if n_more := len(all_running) - len(shown):
        lines.append(Text(f"  … and {n_more} more run", "dim"))
    return lines


def _bar(counts: ModelCounts) -> Text:
    done = round(_BAR * counts.n_ended / counts.n_episodes) if counts.n_episodes else _BAR
    digits = len(str(counts.n_episodes))
    line = Text("━" * done, "green").append("━" * (_BAR - done), "bright_black")
    return line.append(f" {counts.n_ended:>{digits}}/{counts.n_episodes}  {_verdicts(counts)}", "default")


def _verdicts(counts: ModelCounts) -> str:
    return f"{counts.n_passed} passed, {counts.n_failed} failed, {counts.n_lost} lost"


def _time(counts: RunCounts) -> list[str]:
    parts = [duration(counts.seconds)]
    left = counts.seconds_left
    if left and not counts.pauses:
        parts.append(f"{about(left)} left")
    return parts
