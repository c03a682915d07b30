"""harbor: its own validator takes each ATIF file, pictures included."""

from pathlib import Path

import pytest
from harbor.models.trajectories import Trajectory
from harbor.utils.trajectory_validator import TrajectoryValidator
from place import ROOT

FILES = sorted((ROOT / "formats/atif").glob("*.json"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_trajectory_is_valid(path: Path) -> None:
    """No error, the pictures' existence included."""
    validator = TrajectoryValidator()
    assert validator.validate(path), validator.get_errors()


def test_calls_reasoning_and_pictures_are_where_they_belong() -> None:
    """As harbor's model has them."""
    trajectory = Trajectory.model_validate_json((ROOT / "formats/atif/ball.json").read_text())
    agents = [step for step in trajectory.steps if step.source == "agent"]
    assert [step.reasoning_content for step in agents] == ["I need bpy.", None, "It is `ops`.", None]
    assert [step.tool_calls[0].arguments["code"] for step in agents][:2] == ["import bpy\n", "bpy.oops()\n"]
    results = [step.observation.results[0] for step in agents]
    assert [result.source_call_id for result in results] == [f"call_{n}" for n in (1, 2, 3, 4)]
    assert sum(part.type == "image" for part in results[2].content) == 2
    assert trajectory.agent.tool_definitions
    assert trajectory.final_metrics.total_cost_usd == pytest.approx(0.04)


def test_there_is_something_to_check() -> None:
    """One file a sample."""
    assert len(FILES) == 3
