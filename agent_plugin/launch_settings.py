"""`launch:` of a config: how a run is carried out. None of it shapes an episode, so none of it makes another run."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from agent_plugin.losses import LOSSES, LossClass

Retries = Annotated[int, Field(ge=0, le=1000)]


class LaunchSettings(BaseModel):
    """Unknown keys are refused. `blendscribe run` has an option for the keys that are changed most."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    blender_slots: int | None = Field(default=None, ge=1, le=1024)
    """Blenders that work at once, whatever the number of episodes. Null: by cores and memory."""
    retry: dict[LossClass | Literal["all"], Retries] = {}
    """Class of loss -> how often an episode that was lost so is played again in one launch; `all`: every class that is
    not named."""
    retry_wait_seconds: float = Field(default=5.0, ge=0)
    """Before an episode is played again for the first time; doubled each time, up to a minute."""
    max_losses: int = Field(default=20, ge=1)
    """Lost attempts at one episode, over all launches, after which it is not begun any more."""
    breaker_losses: int = Field(default=5, ge=1)
    """Episodes lost in a row, for the same reason, after which no other is begun until one of them succeeds."""
    probe_seconds: float = Field(default=15.0, gt=0)
    """From the beginning of such a pause to the first episode that tries; doubled each time, up to five minutes."""
    max_pause_seconds: float = Field(default=3600.0, ge=0)
    """How long such a pause may last before the run gives up what it holds back."""
    min_free_disk_mb: int = Field(default=1024, ge=0)
    """MiB that have to be free on the run's disk for an episode to begin, and to go on."""
    cost_limit: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    """US dollars for the run, over all its launches; no model call begins beyond it. 0: none."""
    allow_unknown_cost: bool = False
    """With a limit in dollars: call models whose cost nobody tells, and count it as nothing."""
    token_limit: int = Field(default=0, ge=0)
    """Tokens, in and out, for the run over all its launches. 0: no limit."""
    call_limit: int = Field(default=0, ge=0)
    """Model calls, which are the steps, for the run over all its launches. 0: no limit."""
    wall_time_limit_seconds: float = Field(default=0.0, ge=0)
    """Seconds by the clock for one launch. 0: no limit."""

    def n_retries(self, loss: LossClass) -> int:
        """How often an episode that was lost for this reason is played again in one launch."""
        return self.retry.get(loss, self.retry.get("all", LOSSES[loss].n_retries))
