"""A trajectory is written once, line by line, and what cannot be trusted is named by file and line."""

import gzip
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from recorder.errors import CorruptEpisode
from recorder.paths import EpisodePaths
from recorder.records import Cost, End, EpisodeSummary, Header, Message, Step, TextPart
from recorder.redaction import Redactor
from recorder.trajectory import TrajectoryWriter, read_summary, read_trajectory, write_atomically

PROJECT = Path(__file__).resolve().parents[2]


def header(**changes: Any) -> Header:
    facts: dict[str, Any] = {
        "seq": 0,
        "task_id": "t",
        "task_kind": "video",
        "task_sha256": "00",
        "model": "m",
        "attempt": 1,
        "prompts": [Message(role="user", content=[TextPart(text="make a film")])],
        "tools": [],
        "config": {},
        "versions": {},
        "sandbox_level": "bwrap",
        "started_at": "now",
    }
    return Header(**(facts | changes))


def step(number: int, text: str = "", **changes: Any) -> Step:
    facts: dict[str, Any] = {
        "seq": number,
        "step": number,
        "assistant": {"content": text},
        "response_model": None,
        "finish_reason": None,
        "actions": [],
        "executions": [],
        "observations": [],
        "request": None,
        "usage": None,
        "cost": Cost(usd=0.0, is_known=True),
        "started_at": "now",
        "model_seconds": 0.0,
    }
    return Step(**(facts | changes))


def end(seq: int) -> End:
    return End(seq=seq, exit_status="Submitted", submission="", redactions={}, ended_at="now")


def write(folder: Path, *records: Header | Step | End, redactor: Redactor | None = None) -> Path:
    """The trajectory of these records."""
    paths = EpisodePaths(folder)
    writer = TrajectoryWriter(paths, redactor or Redactor())
    for record in records:
        writer.append(record)
    writer.close()
    return paths.trajectory


def test_what_was_written_is_read(tmp_path: Path) -> None:
    """Header, steps and end come back equal and in order."""
    records: list[Header | Step | End] = [header(), step(1, "€ 漢字 \u2028 \n"), step(2, "", usage={"a": None}), end(3)]
    assert list(read_trajectory(write(tmp_path, *records))) == records


def test_each_record_is_one_line(tmp_path: Path) -> None:
    """Text with ends of line of any sort stays in one line of JSON."""
    path = write(tmp_path, header(), step(1, "a\nb\r\nc\x0bd\u2028e\u0085f"))
    lines = path.read_bytes().split(b"\n")
    assert len(lines) == 3
    assert lines[2] == b""
    assert json.loads(lines[1])["assistant"]["content"] == "a\nb\r\nc\x0bd\u2028e\u0085f"


def test_a_line_is_readable_before_the_next_is_written(tmp_path: Path) -> None:
    """Nothing waits in a buffer."""
    writer = TrajectoryWriter(EpisodePaths(tmp_path), Redactor())
    for number in range(3):
        writer.append(step(number) if number else header())
        assert len(list(read_trajectory(tmp_path / "trajectory.jsonl"))) == number + 1 == writer.n_lines
    writer.close()


def test_every_line_is_synced(tmp_path: Path) -> None:
    """Each append ends in an fsync of the file, and its name is synced in the folder (fsync is counted, and done)."""
    calls = tmp_path / "calls"
    code = (
        "import os\n"
        "real = os.fsync\n"
        "def counted(fd):\n"
        "    real(fd)\n"
        f"    open({str(calls)!r}, 'a').write(os.readlink(f'/proc/self/fd/{{fd}}') + '\\n')\n"
        "os.fsync = counted\n"
        "from pathlib import Path\n"
        "from recorder.paths import EpisodePaths\n"
        "from recorder.records import End\n"
        "from recorder.redaction import Redactor\n"
        "from recorder.trajectory import TrajectoryWriter\n"
        f"writer = TrajectoryWriter(EpisodePaths(Path({str(tmp_path / 'e')!r})), Redactor())\n"
        "for seq in range(3):\n"
        "    writer.append(End(seq=seq, exit_status='', submission='', redactions={}, ended_at=''))\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=PROJECT, check=True, timeout=60)
    synced = calls.read_text().splitlines()
    assert synced.count(str(tmp_path / "e/trajectory.jsonl")) == 3
    assert str(tmp_path / "e") in synced


def test_state_patches_are_kept_by_their_hash(tmp_path: Path) -> None:
    """Compact, the same bytes each time, in a folder that is made with the first; equal ones share a file."""
    writer = TrajectoryWriter(EpisodePaths(tmp_path), Redactor())
    assert not (tmp_path / "states").exists()
    first = writer.store_state_patch(
        {"version": 1, "blocks": {"Object/\udcff": {"set": {"x": [None, 0.1]}, "gone": []}}}
    )
    again = writer.store_state_patch(
        {"version": 1, "blocks": {"Object/\udcff": {"set": {"x": [None, 0.1]}, "gone": []}}}
    )
    other = writer.store_state_patch({})
    writer.close()
    assert first is not None
    assert other is not None
    assert first == again != other
    packed = (tmp_path / first.path).read_bytes()
    assert (first.path, first.n_bytes) == (f"states/{first.sha256}.json.gz", len(packed))
    assert hashlib.sha256(packed).hexdigest() == first.sha256
    assert packed[4:8] == bytes(4)  # the time
    assert gzip.decompress(packed) == b'{"version":1,"blocks":{"Object/\\udcff":{"set":{"x":[null,0.1]},"gone":[]}}}'
    assert sorted(file.name for file in (tmp_path / "states").iterdir()) == sorted(
        f"{reference.sha256}.json.gz" for reference in (first, other)
    )


def test_state_patches_are_cleaned(tmp_path: Path) -> None:
    """Secrets and paths are out of them before they are written, in names too."""
    writer = TrajectoryWriter(EpisodePaths(tmp_path), Redactor(secrets=["hush-hush"], folders={"/work/x": "<x>"}))
    reference = writer.store_state_patch({"Image/hush-hush": {"filepath": "/work/x/a.png", "secret": "door"}})
    writer.close()
    assert reference is not None
    kept = json.loads(gzip.decompress((tmp_path / reference.path).read_bytes()))
    assert kept == {"Image/[removed: secret]": {"filepath": "<x>/a.png", "secret": "door"}}


def test_a_patch_that_its_reader_would_refuse_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A forged state may be nested without end, or larger than any session answers."""
    writer = TrajectoryWriter(EpisodePaths(tmp_path), Redactor())
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    assert writer.store_state_patch({"x": deep}) is None
    monkeypatch.setattr("recorder.trajectory.MAX_PATCH_BYTES", 100)
    assert writer.store_state_patch({"x": "y" * 100}) is None
    assert writer.store_state_patch({"x": "y" * 80}) is not None
    writer.close()


def test_a_trajectory_is_never_overwritten(tmp_path: Path) -> None:
    """A second writer in the same folder is refused, and changes nothing."""
    path = write(tmp_path, header(), end(1))
    before = path.read_bytes()
    with pytest.raises(FileExistsError):
        TrajectoryWriter(EpisodePaths(tmp_path), Redactor())
    assert path.read_bytes() == before


def test_an_image_is_stored_once(tmp_path: Path) -> None:
    """A picture lies under its hash, however often it is stored."""
    writer = TrajectoryWriter(EpisodePaths(tmp_path), Redactor())
    first, again = writer.store_image(b"picture", "image/jpeg"), writer.store_image(b"picture", "image/jpeg")
    other = writer.store_image(b"another", "image/png")
    writer.close()
    digest = hashlib.sha256(b"picture").hexdigest()
    assert first == again
    assert (first.path, first.sha256, first.n_bytes) == (f"images/{digest}.jpg", digest, 7)
    assert (tmp_path / first.path).read_bytes() == b"picture"
    assert sorted(path.name for path in (tmp_path / "images").iterdir()) == sorted(
        Path(part.path).name for part in (first, other)
    )


def test_a_torn_last_line_is_named(tmp_path: Path) -> None:
    """A run that was killed while writing leaves all lines before the torn one readable."""
    path = write(tmp_path, header(), step(1), end(2))
    path.write_bytes(path.read_bytes()[:-10])
    records = read_trajectory(path)
    assert [next(records).kind, next(records).kind] == ["header", "step"]
    with pytest.raises(CorruptEpisode, match=f"{path}, line 3: torn line") as caught:
        next(records)
    assert (caught.value.path, caught.value.line) == (path, 3)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{oops", "not valid JSON"),
        ("\0\0\0\0", "not valid JSON"),
        ("[]", "valid dictionary"),
        ('{"seq": 1}', "kind"),
        ('{"kind": "note", "seq": 1}', "'note'.*'header', 'step', 'end'"),
        ('{"kind": "end", "seq": 1}', "end.exit_status: Field required"),
        (end(5).model_dump_json(), "seq is 5, expected 1"),
        (json.dumps(end(1).model_dump() | {"more": 1}), "end.more: Extra inputs"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, why: str) -> None:
    """What is wrong with a line is said together with its file and number."""
    path = write(tmp_path, header())
    path.write_text(f"{path.read_text()}{line}\n")
    with pytest.raises(CorruptEpisode, match=why) as caught:
        list(read_trajectory(path))
    assert str(caught.value).startswith(f"{path}, line 2: ")
    assert not caught.value.why.startswith(":")


def test_bytes_that_are_not_text_are_named(tmp_path: Path) -> None:
    """Damage to the bytes is a corrupt line, not a decoding error."""
    path = write(tmp_path, header())
    path.write_bytes(path.read_bytes() + b'{"kind": "\xff"}\n')
    with pytest.raises(CorruptEpisode, match="line 2: not valid JSON"):
        list(read_trajectory(path))


def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    """Records of a later release are not guessed at, even where they hold unknown fields."""
    path = tmp_path / "trajectory.jsonl"
    path.write_text(json.dumps(header().model_dump() | {"schema_version": 2, "novelty": 1}) + "\n")
    with pytest.raises(CorruptEpisode, match=r"line 1: schema version 2 is newer than 1.*update blendscribe"):
        list(read_trajectory(path))


def test_lines_after_a_killed_writer_are_whole(tmp_path: Path) -> None:
    """A writer that is killed at any moment leaves whole lines, and at most one torn one at the end."""
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from recorder.paths import EpisodePaths\n"
        "from recorder.records import End\n"
        "from recorder.redaction import Redactor\n"
        "from recorder.trajectory import TrajectoryWriter\n"
        "writer = TrajectoryWriter(EpisodePaths(Path(sys.argv[1])), Redactor())\n"
        "print('ready', flush=True)\n"
        "for seq in range(10**9):\n"
        "    writer.store_image(b'%d' % seq, 'image/png')\n"
        "    writer.append(End(seq=seq, exit_status='x' * 50_000, submission='', redactions={}, ended_at=''))\n"
    )
    n_read = []
    for number in range(6):
        folder = tmp_path / f"{number}"
        writer = subprocess.Popen([sys.executable, "-c", code, folder], cwd=PROJECT, stdout=subprocess.PIPE)
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(0.05 + 0.0137 * number)
        os.kill(writer.pid, signal.SIGKILL)
        writer.wait(30)
        writer.stdout.close()
        content = (folder / "trajectory.jsonl").read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        (folder / "whole.jsonl").write_bytes(whole)
        n_read.append(len(list(read_trajectory(folder / "whole.jsonl"))))
        if whole != content:
            with pytest.raises(CorruptEpisode, match=f"line {n_read[-1] + 1}: torn line"):
                list(read_trajectory(folder / "trajectory.jsonl"))
        for image in (folder / "images").glob("*.png"):
            assert hashlib.sha256(image.read_bytes()).hexdigest() == image.stem
    assert sum(n_read) > 0


def test_secrets_and_host_paths_do_not_reach_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever in a record they stand, also inside the raw arguments of a call; the file stays valid."""
    monkeypatch.setenv("SOME_API_TOKEN", 'tok"en-1234567')
    arguments = json.dumps({"command": f'echo tok"en-1234567 sk-{"a1" * 12} {Path.home()}/.netrc {PROJECT}/x'})
    record = step(1, assistant={"tool_calls": [{"function": {"arguments": arguments}}]})
    redactor = Redactor.for_this_machine()
    config = {"model": {"model_kwargs": {"api_key": "short", "max_tokens": 7}}}
    path = write(tmp_path, header(config=config), record, redactor=redactor)
    first, second = (json.loads(line) for line in path.read_text().splitlines())
    inner = json.loads(second["assistant"]["tool_calls"][0]["function"]["arguments"])
    assert inner == {"command": "echo [removed: secret] [removed: key] <home>/.netrc <project>/x"}
    assert first["config"] == {"model": {"model_kwargs": {"api_key": "[removed: secret]", "max_tokens": 7}}}
    assert redactor.counts == {"secret": 2, "key": 1, "path": 2}
    assert len(list(read_trajectory(path))) == 2


def test_counts_of_what_was_removed_survive(tmp_path: Path) -> None:
    """An end line that tells of secrets is none."""
    record = End(seq=1, exit_status="", submission="", redactions={"secret": 2, "key": 1, "path": 3}, ended_at="now")
    assert list(read_trajectory(write(tmp_path, header(), record)))[1] == record


def test_half_surrogates_are_written_as_question_marks(tmp_path: Path) -> None:
    """A file name that is not UTF-8 cannot stop the record."""
    path = write(tmp_path, header(), step(1, "a\udcffb"))
    assert [line.assistant for line in read_trajectory(path) if isinstance(line, Step)] == [{"content": "a?b"}]


def test_numbers_that_are_none_become_null(tmp_path: Path) -> None:
    """Infinity and NaN are not JSON; what was measured so is recorded as unknown."""
    path = write(tmp_path, header(), step(1, usage={"x": float("nan"), "y": float("inf")}))
    assert "NaN" not in path.read_text()
    assert [line.usage for line in read_trajectory(path) if isinstance(line, Step)] == [{"x": None, "y": None}]


def summary() -> EpisodeSummary:
    return EpisodeSummary(
        task_id="t",
        task_sha256="00",
        model="m",
        attempt=1,
        exit_status="Submitted",
        verdict="pass",
        reason="",
        problems=[],
        final_execution=None,
        n_steps=1,
        cost=Cost(usd=0.0, is_known=True),
        seconds=1.0,
        files={},
        finished_at="now",
    )


def test_a_summary_is_read(tmp_path: Path) -> None:
    """`episode.json` comes back equal."""
    write_atomically(tmp_path / "episode.json", summary().model_dump_json().encode())
    assert read_summary(tmp_path / "episode.json") == summary()


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "not valid JSON"),
        ("[]", "valid dictionary"),
        (json.dumps(summary().model_dump() | {"verdict": "maybe"}), "verdict: "),
        (json.dumps(summary().model_dump() | {"schema_version": 9}), "schema version 9 is newer"),
    ],
)
def test_a_damaged_summary_is_named(tmp_path: Path, content: str, why: str) -> None:
    """It is a corrupt episode, with its file."""
    (tmp_path / "episode.json").write_text(content)
    with pytest.raises(CorruptEpisode, match=f"episode.json: .*{why}"):
        read_summary(tmp_path / "episode.json")


def test_write_atomically_leaves_nothing_beside(tmp_path: Path) -> None:
    """The file is replaced whole; the temporary one is gone."""
    for content in (b"one", b"two"):
        write_atomically(tmp_path / "f", content)
        assert (tmp_path / "f").read_bytes() == content
    assert [path.name for path in tmp_path.iterdir()] == ["f"]
