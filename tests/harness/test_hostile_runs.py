"""What hostile or careless scripts did to an earlier harness, each once more."""

import os
from pathlib import Path

import pytest

from harness.execute import execute
from harness.folders import private_folder, remove_folder
from harness.plain_text import plain, plain_values
from harness.report import report_text
from harness.settings import HarnessSettings
from harness.workspace import check_workspace
from tests.conftest import FILM, RENDER, RunScript


def test_text_that_is_not_unicode(run_script: RunScript) -> None:
    """Half surrogate pairs in an exception and in a file name are replaced, and the run is judged."""
    result = run_script("open(b'bad\\xff.txt', 'w')\nraise ValueError('\\ud800 \\x1b[31mred')\n")
    assert result.outcome == "script_error"
    report_text(result).encode()
    assert "\x1b" not in report_text(result)


def test_bomb_in_the_result_pipe(run_script: RunScript) -> None:
    """Endlessly nested JSON among the results is no message, and no crash of the harness."""
    bomb = "import os, sys\nos.write(int(sys.orig_argv[-3]), bytes([10]) + b'[' * 200000 + bytes([10]))\n"
    result = run_script(bomb + FILM + RENDER)
    assert result.ok, report_text(result)


@pytest.mark.parametrize("place", [".", "output.mp4", "/tmp/home/.cache/shaders"])
def test_folders_nested_too_deep(run_script: RunScript, tmp_path: Path, place: str) -> None:
    """They end the run, or at least the next one works and nothing crashes on them."""
    nest = f"import os\nos.makedirs('{place}', exist_ok=True); os.chdir('{place}')\n"
    run_script(nest + "for i in range(3000): os.mkdir('d'); os.chdir('d')\n", exec_timeout=30)
    remove_folder(tmp_path / "d")
    assert run_script(FILM + RENDER).ok


def test_endless_folders_are_stopped(run_script: RunScript) -> None:
    """A chain of folders that no path can name is taken for too many files."""
    result = run_script("import os\nwhile True: os.mkdir('d'); os.chdir('d')\n", exec_timeout=30)
    assert result.problems[0].code == "files_limit"


def test_shader_cache_is_measured(run_script: RunScript) -> None:
    """Whatever a run may write counts, not the workspace alone."""
    source = "import time\nopen('/tmp/home/.cache/shaders/x', 'wb').write(b'1' * (80 << 20))\ntime.sleep(20)\n"
    assert run_script(source, max_disk_mb=40).problems[0].code == "disk_limit"


def test_files_that_were_there_do_not_count(run_script: RunScript, tmp_path: Path) -> None:
    """A folder of many files is no fault of the script."""
    for number in range(20_500):
        (tmp_path / f"{number}").touch()
    result = run_script(FILM + RENDER)
    assert "files_limit" not in [problem.code for problem in result.problems]


def test_storm_of_processes(run_script: RunScript) -> None:
    """Processes that double each time are stopped while they are few, also where root runs the harness."""
    result = run_script("import os, time\nfor i in range(11): os.fork()\ntime.sleep(8)\n", exec_timeout=30)
    is_refused = result.error is not None and result.error.type == "BlockingIOError"  # by the kernel, before we saw it
    assert result.outcome == "limit" or is_refused or os.geteuid() != 0, report_text(result)
    assert not result.ok


def test_exception_that_fights_back(run_script: RunScript) -> None:
    """Exceptions whose text or equality raises are outcomes like any other."""
    source = "class E(Exception):\n    def __str__(self): raise SystemExit(0)\nraise E\n"
    assert run_script(source).outcome == "script_error"
    source = "class C:\n    def __eq__(self, other): raise KeyboardInterrupt\nraise SystemExit(C())\n"
    assert run_script(source).outcome == "script_error"
    assert run_script("import os\nos.closerange(0, 100)\n", exec_timeout=20).outcome in ("no_result", "crash")


def test_missing_script_deletes_nothing(tmp_path: Path) -> None:
    """A mistyped name does not cost the last video."""
    (tmp_path / "output.mp4").write_bytes(b"last")
    assert execute("nosuch.py", tmp_path, HarnessSettings()).outcome == "script_missing"
    assert (tmp_path / "output.mp4").read_bytes() == b"last"


def test_private_folder_without_rights() -> None:
    """It is removed although its content forbids it."""
    with private_folder("test") as folder:
        (folder / "a/b").mkdir(parents=True)
        (folder / "a").chmod(0)
    assert not folder.exists()


def test_plain_text() -> None:
    """Line ends and tabs stay, tricks go, valid text is untouched."""
    assert plain("a\tb\nc é 漢 🎬") == "a\tb\nc é 漢 🎬"
    assert plain("\x1b]0;title\x07x\ud800\u2028\u202e") == "x?\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}"
    assert plain_values({"\ud800": ["\x07", 1, None]}) == {"?": ["\N{REPLACEMENT CHARACTER}", 1, None]}


def test_workspace_must_not_hold_what_is_precious(tmp_path: Path) -> None:
    """A folder that holds the project or the home is refused; one beside or below them is not."""
    assert check_workspace(tmp_path, tmp_path / "project")
    assert check_workspace(tmp_path, tmp_path)
    assert not check_workspace(tmp_path / "work", tmp_path)
