"""The sheet of labelled frames."""

import io
import struct

import pytest
from PIL import Image, ImageChops

from harness.in_sandbox.contact_sheet import GAP, STRIP, contact_sheet, label_strip_height
from harness.video import Frame

WIDTH, HEIGHT = 320, 180
COLOURS = ((200, 30, 30), (30, 200, 30), (30, 30, 200), (200, 200, 30), (200, 30, 200))


def frame(index: int, colour: tuple[int, int, int] = (90, 120, 150), size: tuple[int, int] = (WIDTH, HEIGHT)) -> Frame:
    buffer = io.BytesIO()
    Image.new("RGB", size, colour).save(buffer, "JPEG", quality=95)
    return Frame(index, index / 24, buffer.getvalue(), *size)


def sheet(*frames: Frame) -> Image.Image:
    return Image.open(io.BytesIO(contact_sheet(frames))).convert("RGB")


def corner(position: int, n_columns: int = 2) -> tuple[int, int]:
    row, column = divmod(position, n_columns)
    return column * (WIDTH + GAP), row * (HEIGHT + label_strip_height(WIDTH) + GAP)


def strip(picture: Image.Image, position: int) -> Image.Image:
    x, y = corner(position)
    return picture.crop((x, y, x + WIDTH, y + label_strip_height(WIDTH)))


def chunk_names(png: bytes) -> set[bytes]:
    names, position = set(), 8
    while position < len(png):
        (length,) = struct.unpack(">I", png[position : position + 4])
        names.add(png[position + 4 : position + 8])
        position += length + 12
    return names


def test_four_frames_make_a_two_by_two_grid() -> None:
    """Each frame stands in reading order below its strip, its colours unchanged."""
    picture = sheet(*(frame(index, colour) for index, colour in enumerate(COLOURS[:4])))
    assert picture.size == (2 * WIDTH + GAP, 2 * (HEIGHT + label_strip_height(WIDTH)) + GAP)
    for position, colour in enumerate(COLOURS[:4]):
        x, y = corner(position)
        centre = picture.getpixel((x + WIDTH // 2, y + label_strip_height(WIDTH) + HEIGHT // 2))
        assert isinstance(centre, tuple)
        assert max(abs(a - b) for a, b in zip(centre, colour, strict=True)) < 6


def test_each_strip_carries_bright_text_on_a_dark_ground() -> None:
    """The label is there, readable, and does not run out of its strip."""
    picture = sheet(*(frame(index) for index in (0, 8, 16, 23)))
    for position in range(4):
        label = strip(picture, position)
        ink = ImageChops.difference(label, Image.new("RGB", label.size, STRIP)).convert("L")
        box = ink.point(lambda value: 255 if value > 100 else 0).getbbox()
        assert box is not None
        left, top, right, bottom = box
        assert bottom - top >= 8
        assert left > 0
        assert top > 0
        assert right < label.width
        assert bottom < label.height


def test_the_label_says_which_frame_it_is() -> None:
    """The strip follows the frame's number alone: equal numbers look equal, other numbers do not."""
    first = sheet(frame(0), frame(8), frame(16), frame(23))
    second = sheet(frame(0, COLOURS[0]), frame(9, COLOURS[0]), frame(16), frame(23))
    assert strip(first, 0).tobytes() == strip(second, 0).tobytes()
    assert strip(first, 1).tobytes() != strip(second, 1).tobytes()


def test_labels_stand_in_the_place_of_numbers() -> None:
    """With labels the strip follows the label, whatever the frame's number is."""
    first, second = ([frame(0), frame(1)], ["scene camera", "three-quarter view"]), ([frame(5), frame(6)], ["a", "b"])
    same = ([frame(8), frame(9)], ["scene camera", "b"])
    pictures = [Image.open(io.BytesIO(contact_sheet(*each))).convert("RGB") for each in (first, second, same)]
    assert strip(pictures[0], 0).tobytes() == strip(pictures[2], 0).tobytes()
    assert strip(pictures[1], 1).tobytes() == strip(pictures[2], 1).tobytes()
    assert strip(pictures[0], 0).tobytes() != strip(sheet(frame(0), frame(1)), 0).tobytes()


def test_a_long_label_stays_inside_its_strip() -> None:
    """What there is no room for is cut with dots, and a line end in a name makes no second line."""
    label = "scene camera 'A very long name\nof a camera that nobody would want to read to its end', frame 1"
    picture = Image.open(io.BytesIO(contact_sheet([frame(0)], [label]))).convert("RGB")
    ink = ImageChops.difference(strip(picture, 0), Image.new("RGB", (WIDTH, label_strip_height(WIDTH)), STRIP))
    box = ink.getbbox()
    assert box is not None
    assert WIDTH * 0.8 < box[2] < WIDTH
    assert box[1] > 0
    assert box[3] < label_strip_height(WIDTH)


def test_each_frame_has_a_label() -> None:
    """Fewer labels than frames are a caller's mistake."""
    with pytest.raises(ValueError, match="shorter"):
        contact_sheet([frame(0), frame(1)], ["one"])


@pytest.mark.parametrize(("n", "columns", "rows"), [(1, 1, 1), (2, 2, 1), (3, 2, 2), (5, 3, 2), (8, 3, 3)])
def test_any_number_of_frames_fits(n: int, columns: int, rows: int) -> None:
    """The grid is near-square for other numbers than four."""
    picture = sheet(*(frame(index) for index in range(n)))
    assert picture.width == columns * (WIDTH + GAP) - GAP
    assert picture.height == rows * (HEIGHT + label_strip_height(WIDTH) + GAP) - GAP


def test_frames_of_different_sizes_share_a_sheet() -> None:
    """A video that changes its size mid-stream still gets its sheet; cells are as large as the largest frame."""
    picture = sheet(frame(0, size=(64, 48)), frame(1, size=(WIDTH, HEIGHT)))
    assert picture.size == (2 * WIDTH + GAP, HEIGHT + label_strip_height(WIDTH))


def test_the_png_holds_pixels_and_nothing_else() -> None:
    """No text, time or profile chunk, so that no path or date can leave with the sheet."""
    png = contact_sheet([frame(0), frame(1)])
    assert chunk_names(png) == {b"IHDR", b"IDAT", b"IEND"}


def test_equal_frames_give_equal_bytes() -> None:
    """The sheet is a function of its frames."""
    assert contact_sheet([frame(3), frame(4)]) == contact_sheet([frame(3), frame(4)])


def test_no_frames_is_a_callers_mistake() -> None:
    """There is no empty sheet."""
    with pytest.raises(ValueError, match="at least one frame"):
        contact_sheet([])
