"""Pictures are compared by what they show, with a tolerance, block by block."""

import io

from PIL import Image, ImageDraw

from agent_plugin.recorded_episode import SeenFrame
from agent_plugin.replay_frames import THRESHOLD, compare_frames, worst_block


def picture(
    *,
    cube: int = 200,
    quality: int = 85,
    size: tuple[int, int] = (640, 360),
    colour: tuple[int, int, int] = (90, 90, 90),
) -> bytes:
    image = Image.new("RGB", size, colour)
    draw = ImageDraw.Draw(image)
    for x in range(0, size[0], 7):
        draw.line((x, 0, x // 2, size[1]), fill=(100, 110, 120))
    draw.rectangle((cube, 100, cube + 60, 160), fill=(220, 60, 20))
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=quality)
    return buffer.getvalue()


def frame(**what: object) -> SeenFrame:
    return SeenFrame("View 1: camera, frame 1:", picture(**what))  # type: ignore[arg-type]


def test_the_encoder_may_differ() -> None:
    """The same picture at the lowest quality stays under the threshold."""
    worst, _ = worst_block(picture(quality=95), picture(quality=20))
    assert worst < THRESHOLD
    assert compare_frames([frame(quality=95)], [frame(quality=20)]) == []


def test_something_small_that_moved_is_found() -> None:
    """With the place where it is: a tenth of the picture's width in it."""
    (found,) = compare_frames([frame()], [frame(cube=420)])
    assert found.where.startswith("frame 1 (View 1: camera, frame 1): at ")
    assert "of 255" in found.now
    _, (x, y) = worst_block(picture(), picture(cube=420))
    assert 25 <= x <= 80
    assert 25 <= y <= 50


def test_another_colour_of_the_same_brightness() -> None:
    """Each colour counts by itself."""
    assert compare_frames([frame(colour=(90, 40, 40))], [frame(colour=(40, 65, 40))])


def test_number_size_and_caption() -> None:
    """They are told as what they are."""
    one = frame()
    (found,) = compare_frames([one], [])
    assert (found.where, found.recorded, found.now) == ("frames", "1 of them", "0 of them")
    (found,) = compare_frames([one], [frame(size=(320, 180))])
    assert (found.recorded, found.now) == ("640x360", "320x180")
    (found,) = compare_frames([one], [SeenFrame("View 1: whole scene, frame 1:", one.picture)])
    assert found.where == "frame 1"
