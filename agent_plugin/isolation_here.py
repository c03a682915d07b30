"""An episode's code runs again in the isolation that this machine has, if the record or the user accepts that."""

from dataclasses import replace

from agent_plugin.preflight import check_isolation
from agent_plugin.recorded_episode import RecordedEpisode
from harness.sandbox.level import LevelName


def on_this_machine(recorded: RecordedEpisode, allowed: LevelName | None) -> RecordedEpisode:
    """The episode with the isolation that it is run in. Raises BadInput where the machine has less."""
    harness = recorded.environment.harness
    least: LevelName = "bwrap" if harness.sandbox == "required" else "limits-only"
    if harness.sandbox == "required":  # judged here, where it can be said what there is instead
        harness = harness.model_copy(update={"sandbox": "auto"})
    check_isolation([harness], allowed or least)
    return replace(recorded, environment=recorded.environment.model_copy(update={"harness": harness}))
