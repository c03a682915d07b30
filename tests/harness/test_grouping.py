"""What a picture is framed by, where things differ much in size and place."""

import numpy as np
import pytest

from harness.in_blender.views.grouping import Box, group


def box(name: str, side: float | tuple[float, float, float], *at: float) -> Box:
    """A box of these sides about a place."""
    unit = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    # in Blender's order: the corners 1, 3 and 4 are neighbours of the first
    return name, unit[[0, 1, 3, 2, 4, 5, 7, 6]] * np.array(side) + np.array(at or (0.0, 0.0, 0.0))


MAIN, DUST = box("main", 2), box("dust", 0.002, 500, 0, 0)
GROUND, SKY = box("ground", (500, 500, 0), 0, 0, -1), box("sky", 1000)
HEAP = [box("heap", 0.5, i % 5, i // 5 % 5, i // 25) for i in range(100)]
SCENES: dict[str, tuple[list[Box], set[str], set[str], set[str]]] = {
    "one": ([MAIN], {"main"}, set(), set()),
    "none": ([], set(), set(), set()),
    "a point": ([box("p", 0)], {"p"}, set(), set()),
    "points": ([box("p", 0), box("q", 0, 5, 0, 0)], {"p", "q"}, set(), set()),
    "dust": ([MAIN, DUST], {"main"}, set(), {"dust"}),
    "dust on two sides": ([MAIN, DUST, box("d", 0.002, -500, 0, 0)], {"main"}, set(), {"dust", "d"}),
    "dust over the ground": ([MAIN, DUST, GROUND], {"main"}, {"ground"}, {"dust"}),
    "dust near": ([MAIN, box("d", 0.002, 9, 0, 0)], {"main", "d"}, set(), set()),
    "dust on it": ([MAIN, box("d", 0.002, 0, 0, 1.001)], {"main", "d"}, set(), set()),
    "dust in it": ([MAIN, box("d", 0.002)], {"main", "d"}, set(), set()),
    "much dust": ([MAIN, *(box("d", 0.002, 500 + 9 * i, i * i, 0) for i in range(500))], {"main"}, set(), {"d"}),
    "a ground": ([MAIN, GROUND], {"main"}, {"ground"}, set()),
    "a sky": ([MAIN, SKY], {"main"}, {"sky"}, set()),
    "a sky over a ground": ([SKY, MAIN, GROUND], {"main"}, {"sky", "ground"}, set()),
    "two on a ground": ([MAIN, box("b", 2, 200, 0, 0), GROUND], {"main", "b", "ground"}, set(), set()),
    "a tower beside": ([MAIN, box("tower", (20, 20, 200), 60, 0, 99)], {"main", "tower"}, set(), set()),
    "equals": ([box("a", 2), box("b", 2, 300, 0, 0), box("c", 2, 0, 300, 0)], {"a", "b", "c"}, set(), set()),
    "equals past seeing": ([box("a", 3), box("b", 2, 1e6, 0, 0)], {"a"}, set(), {"b"}),
    "stars": ([box("s", 1, 97 * i % 1000, 61 * i % 1000, 37 * i % 1000) for i in range(400)], {"s"}, set(), set()),
    "a heap and a speck": ([*HEAP, box("d", 0.01, 0, 0, 900)], {"heap"}, set(), {"d"}),
    "a heap and a larger thing": ([*HEAP, box("b", 1, 90, 0, 0)], {"heap"}, set(), {"b"}),
}


@pytest.mark.parametrize("turn", [1, -1])
@pytest.mark.parametrize("name", SCENES)
def test_framed_is_the_main_body(name: str, turn: int) -> None:
    """In whatever order things come: a ground or sky carries the rest; small far things do not count; equals all do."""
    boxes, *expected = SCENES[name]
    found = group(boxes[::turn])
    assert [{name for name, _ in part} for part in (found.framed, found.outsized, found.far)] == expected
    assert len(found.framed) + len(found.outsized) + len(found.far) == len(boxes)
