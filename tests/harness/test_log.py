"""What of a run's output is shown."""

from harness.log import LAST_LINES, shorten_log

CHATTER = """Fra:1 Mem:10.5M (Peak 11M) | Time:00:00.02 | Syncing Cube
Append frame 1
 Time: 00:00.09 (Saving: 00:00.01)
Saving: output.mp4
Saved: '/tmp/x.png'
Read prefs: "/nowhere/userpref.blend"
Blender quit
bake: frame 12 :: 120
EGL Error (0x3009): EGL_BAD_MATCH: Arguments are inconsistent
libEGL warning: DRI2: failed to authenticate

"""


def test_chatter_of_blender_is_left_out() -> None:
    """Blender's per-frame lines, EGL's warnings and blank lines are not the script's output."""
    assert shorten_log(CHATTER + "mine\n" + CHATTER).lines == ("mine",)


def test_own_lines_that_look_alike_are_kept() -> None:
    """A script's own sentence about saving or time is kept."""
    lines = ("I am saving: the best", "Frames: 48", "Total Time: 3", "Fraction: 2", "bake: frame 3 is odd")
    assert shorten_log("\n".join(lines)).lines == lines


def test_last_lines_are_kept_and_counted() -> None:
    """The end is shown, the rest is counted without chatter."""
    log = shorten_log("".join(f"Append frame {i}\nline {i}\n" for i in range(100)))
    assert (len(log.lines), log.n_left_out, log.lines[-1]) == (LAST_LINES, 75, "line 99")


def test_long_lines_are_cut_and_say_so() -> None:
    """One huge line does not fill the report."""
    (line,) = shorten_log("x" * 10_000).lines
    assert len(line) < 500
    assert "9600 characters left out" in line


def test_terminal_tricks_are_disarmed() -> None:
    """Escape sequences, control characters and text that turns around are not passed on."""
    (line,) = shorten_log("\x1b[31mred\x1b[0m \x07bell \u202eevil").lines
    assert line.startswith("red ")
    assert not any(c in line for c in "\x1b\x07\u202e")
