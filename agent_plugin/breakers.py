"""The breakers of one launch: one for each model, and one for the machine, which holds back every model's episodes."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from agent_plugin.agent import now
from agent_plugin.breaker import Breaker, Pause
from agent_plugin.launch_settings import LaunchSettings
from agent_plugin.losses import LOSSES, LossClass


@dataclass
class Changes:
    """Pauses that began or went on, and those that ended."""

    paused: list[Pause] = field(default_factory=list)
    resumed: list[Pause] = field(default_factory=list)


class Breakers:
    """Asked before an episode starts, told how each ended. For one thread."""

    def __init__(
        self, models: Sequence[str], settings: LaunchSettings, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        limits = settings.breaker_losses, settings.max_pause_seconds, settings.probe_seconds
        self.machine = Breaker("", *limits, clock=clock, now=now)
        self.models = {model: Breaker(model, *limits, clock=clock, now=now) for model in models}

    def may_start(self, model: str) -> bool:
        """Whether an episode of this model may begin now."""
        return self.machine.may_start() and self.models[model].may_start()

    def started(self, model: str) -> bool:
        """An episode of this model begins. Returns whether it is one that tries."""
        for breaker in self._of(model):
            breaker.started()
        return any(breaker.pause for breaker in self._of(model))

    def succeeded(self, model: str) -> Changes:
        """An episode has a result: model and machine work."""
        ended = [breaker.succeeded() for breaker in self._of(model)]
        return Changes(resumed=[pause for pause in ended if pause])

    def lost(self, model: str, loss: LossClass, error: str, *, is_probe: bool) -> Changes:
        """An episode was lost."""
        at_fault = self.machine if LOSSES[loss].is_of_machine else self.models[model]
        pause = at_fault.lost(loss, error, is_probe=is_probe)
        if is_probe:
            self.unresolved(model)
        return Changes(paused=[pause] if pause else [])

    def unresolved(self, model: str) -> None:
        """The episode that tried ended without an answer."""
        for breaker in self._of(model):
            breaker.unresolved()

    def given_up(self) -> dict[str, Pause]:
        """Models whose episodes are not waited for any longer, and why."""
        for breaker in (self.machine, *self.models.values()):
            breaker.give_up_if_due()
        return {
            model: breaker.pause
            for model in self.models
            for breaker in self._of(model)
            if breaker.has_given_up and breaker.pause
        }

    @property
    def is_paused(self) -> bool:
        """Whether anything is held back."""
        return any(breaker.pause for breaker in (self.machine, *self.models.values()))

    def _of(self, model: str) -> tuple[Breaker, Breaker]:
        return self.machine, self.models[model]
