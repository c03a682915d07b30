"""The steps of `blendscribe setup`, run for real: downloads and pip against a loopback server, apt against its own."""

import base64
import hashlib
import http.server
import io
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.blender import run_in_blender
from harness.errors import HarnessError
from harness.interpreter import PythonEnvironment, find_environment, libs_dir, read_environment, shader_cache_dir
from harness.settings import HarnessSettings
from harness.setup import debian
from harness.setup.blender_env import BPY_VERSION, find_python, has_bpy, install_bpy, installed_bpy, make_environment
from harness.setup.download import NotFetchable, RemoteFile, fetch
from harness.setup.pip import find_pip
from harness.setup.plan import Plan, SetupFailed
from harness.setup.shaders import has_warm_shaders, warm_shader_cache
from harness.setup.steps import locked, provide_libraries
from harness.setup.system_libraries import EGL_VENDOR, SOFTWARE_DRIVER, can_use_apt, find_missing, read_loader

CONTENT = os.urandom(3_000_000)


class Told:
    """Remembers what a step told of its progress."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.sizes: list[tuple[int, int]] = []

    def say(self, text: str) -> None:
        self.texts.append(text)

    def downloaded(self, n_bytes: int, n_total: int) -> None:
        self.sizes.append((n_bytes, n_total))


# downloads


class Server(http.server.ThreadingHTTPServer):
    """Serves bytes by path, with ranges; it can be made slow, deaf to ranges, or to hang up early."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Request)
        self.files: dict[str, bytes] = {}
        self.ranges: list[str] = []
        self.paths: list[str] = []
        self.knows_ranges = True
        self.hangs_up_after: int | None = None
        self.seconds_per_chunk = 0.0

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}{path}"


class Request(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def _answer(self, *, with_body: bool) -> None:
        self.server.paths.append(self.path)
        content = self.server.files.get(self.path)
        if content is None:
            self.send_error(404)
            return
        start, end = self._range(len(content))
        if start >= len(content):
            self.send_error(416)
            return
        self.send_response(206 if "Range" in self.headers and self.server.knows_ranges else 200)
        self.send_header("Content-Type", "text/html" if self.path.endswith("/") else "application/octet-stream")
        self.send_header("Content-Length", str(end - start))
        self.send_header("Accept-Ranges", "bytes")
        self.end_headers()
        if with_body:
            self._send(content[start:end])

    def _range(self, size: int) -> tuple[int, int]:
        asked = re.match(r"bytes=(\d*)-(\d*)", self.headers.get("Range") or "")
        if not asked or not self.server.knows_ranges:
            return 0, size
        self.server.ranges.append(self.headers["Range"])
        if not asked[1]:
            return max(0, size - int(asked[2])), size
        return int(asked[1]), min(size, int(asked[2]) + 1) if asked[2] else size

    def _send(self, body: bytes) -> None:
        if self.server.hangs_up_after is not None:
            body, self.server.hangs_up_after = body[: self.server.hangs_up_after], None
        try:
            for start in range(0, len(body), 1 << 16):
                self.wfile.write(body[start : start + (1 << 16)])
                time.sleep(self.server.seconds_per_chunk)
        except OSError:
            pass  # the client was killed

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def remote(server: Server) -> RemoteFile:
    server.files["/a.whl"] = CONTENT
    return RemoteFile(server.url("/a.whl"), "a.whl", hashlib.sha256(CONTENT).hexdigest())


def test_a_download_is_whole_and_told_byte_by_byte(remote: RemoteFile, tmp_path: Path) -> None:
    """A fetched file has the server's content, and its progress ends at its size."""
    told = Told()
    assert fetch(remote, tmp_path, told).read_bytes() == CONTENT
    assert told.sizes[-1] == (len(CONTENT), len(CONTENT))


def test_a_killed_download_goes_on(server: Server, remote: RemoteFile, tmp_path: Path) -> None:
    """After kill -9 the next fetch asks only for what is missing."""
    server.seconds_per_chunk = 0.05
    program = (
        "import sys; from pathlib import Path; from harness.setup.download import RemoteFile, fetch\n"
        "class Quiet:\n  def say(self, text): pass\n  def downloaded(self, n, total): pass\n"
        "fetch(RemoteFile(*sys.argv[1:4]), Path(sys.argv[4]), Quiet())"
    )
    victim = subprocess.Popen([sys.executable, "-c", program, remote.url, remote.name, remote.sha256, str(tmp_path)])
    part = tmp_path / "a.whl.part"
    while not part.is_file() or not part.stat().st_size:
        assert victim.poll() is None
        time.sleep(0.01)
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    n_there = part.stat().st_size
    server.seconds_per_chunk = 0.0
    assert 0 < n_there < len(CONTENT)
    assert fetch(remote, tmp_path, Told()).read_bytes() == CONTENT
    assert server.ranges == [f"bytes={n_there}-"]


def test_a_dropped_connection_is_taken_up_again(server: Server, remote: RemoteFile, tmp_path: Path) -> None:
    """A server that hangs up half-way costs nothing but a second request for the rest."""
    server.hangs_up_after = 1_000_000
    assert fetch(remote, tmp_path, Told()).read_bytes() == CONTENT
    assert server.ranges == ["bytes=1000000-"]


def test_a_server_without_ranges_starts_over(server: Server, remote: RemoteFile, tmp_path: Path) -> None:
    """Where the server cannot go on in the middle, what was there is replaced."""
    server.knows_ranges = False
    (tmp_path / "a.whl.part").write_bytes(b"something else")
    assert fetch(remote, tmp_path, Told()).read_bytes() == CONTENT


def test_a_complete_part_is_accepted(remote: RemoteFile, tmp_path: Path) -> None:
    """A part that was whole when setup was killed needs no more bytes."""
    (tmp_path / "a.whl.part").write_bytes(CONTENT)
    assert fetch(remote, tmp_path, Told()).read_bytes() == CONTENT


def test_damaged_content_is_deleted(server: Server, remote: RemoteFile, tmp_path: Path) -> None:
    """A wrong hash is said, and nothing of the file stays to be gone on from."""
    server.files["/a.whl"] = CONTENT[:-1] + bytes([CONTENT[-1] ^ 1])
    with pytest.raises(SetupFailed, match=r"'a\.whl' arrived damaged"):
        fetch(remote, tmp_path, Told())
    assert list(tmp_path.iterdir()) == []


def test_a_refusal_is_left_to_pip(server: Server, remote: RemoteFile, tmp_path: Path) -> None:
    """A server that gives nothing is no dead end: pip may know a password."""
    del server.files["/a.whl"]
    with pytest.raises(NotFetchable, match="404"):
        fetch(remote, tmp_path, Told())


# the environment


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    """A new environment, made."""
    plan = Plan(tmp_path / "env", python=find_python(None))
    plan.into.mkdir()
    make_environment(plan, Told())
    return plan


@pytest.fixture
def index(server: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """A package index on the loopback interface, and pip told to use it alone."""
    for name, version, tag in (("bpy", BPY_VERSION, "cp311-cp311-linux_x86_64"), ("numpy", "1.26.4", "py3-none-any")):
        file, wheel = f"{name}-{version}-{tag}.whl", make_wheel(name, version, tag)
        server.files[f"/{file}"] = wheel
        link = f'<a href="/{file}#sha256={hashlib.sha256(wheel).hexdigest()}">{file}</a>'
        server.files[f"/simple/{name}/"] = f"<!DOCTYPE html><html><body>{link}</body></html>".encode()
    for variable in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", server.url("/simple"))
    return server


def make_wheel(name: str, version: str, tag: str) -> bytes:
    """A wheel with one module, and enough padding that a range of it is not all of it."""
    needs = "Requires-Dist: numpy<2\n" if name == "bpy" else ""
    files = {
        f"{name}/__init__.py": f"padding = {base64.b64encode(os.urandom(300_000)).decode()!r}\n",
        f"{name}-{version}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}",
        f"{name}-{version}.dist-info/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n",
    }
    record = f"{name}-{version}.dist-info/RECORD"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
        wheel.writestr(record, "".join(f"{path},,\n" for path in [*files, record]))
    return buffer.getvalue()


def test_an_environment_needs_no_ensurepip(plan: Plan) -> None:
    """The environment is made without pip in it, and a second time it is kept."""
    assert not list(plan.environment.site_packages.iterdir())
    assert make_environment(plan, Told()) == "kept"


@pytest.mark.parametrize("damage", ["pyvenv.cfg", "bin/python"])
def test_a_half_made_environment_is_repaired(plan: Plan, damage: str) -> None:
    """Whatever an interruption left out is made again."""
    (plan.into / damage).unlink()
    assert make_environment(plan, Told()).startswith("made")
    assert make_environment(plan, Told()) == "kept"


def test_an_environment_of_another_python_is_not_touched(plan: Plan) -> None:
    """bpy cannot live in it, and deleting it is the user's decision."""
    python = plan.into / "bin/python"
    python.unlink()
    python.write_text("#!/bin/sh\necho 3 12\n")
    python.chmod(0o755)
    with pytest.raises(SetupFailed, match=r"environment of Python 3\.12; bpy .* needs 3\.11"):
        make_environment(plan, Told())


def test_a_named_python_must_be_3_11(tmp_path: Path) -> None:
    """--python with something else is refused with the version that is needed."""
    with pytest.raises(SetupFailed, match=r"does not run; bpy .* needs Python 3\.11"):
        find_python(tmp_path / "python3.11")


def test_bpy_is_installed_from_where_pip_finds_it(plan: Plan, index: Server) -> None:
    """bpy and its dependencies come from pip's own index, the download is removed, and a second run does nothing."""
    assert install_bpy(plan, Told()) == f"installed bpy {BPY_VERSION}"
    assert installed_bpy(plan.environment) == BPY_VERSION
    assert (plan.environment.site_packages / "numpy/__init__.py").is_file()
    assert not plan.downloads_dir.exists()
    n_requests = len(index.paths)
    assert install_bpy(plan, Told()) == "kept"
    assert len(index.paths) == n_requests


def test_a_half_installed_bpy_is_installed_again(plan: Plan, index: Server) -> None:
    """pip killed while unpacking leaves an environment that setup repairs."""
    install_bpy(plan, Told())
    (plan.environment.site_packages / f"bpy-{BPY_VERSION}.dist-info/INSTALLER").unlink()
    (plan.environment.site_packages / "bpy/__init__.py").unlink()
    assert not has_bpy(plan.environment)
    install_bpy(plan, Told())
    assert (plan.environment.site_packages / "bpy/__init__.py").is_file()


@pytest.fixture(scope="session")
def new_pip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a pip that reports without downloading, from the index that this machine uses."""
    folder = tmp_path_factory.mktemp("pip") / "pip"
    find_pip(Path(sys.executable)).newer(folder)
    return folder


def test_an_interrupted_download_of_bpy_goes_on(new_pip: Path, plan: Plan, index: Server) -> None:
    """The wheel's address and hash are pip's own report; what is there already is not fetched again."""
    if new_pip.is_dir():
        shutil.copytree(new_pip, plan.downloads_dir / "pip")
    plan.downloads_dir.mkdir(exist_ok=True)
    wheel = next(path for path in index.files if path.startswith("/bpy-"))
    (plan.downloads_dir / f"{wheel[1:]}.part").write_bytes(index.files[wheel][:100_000])
    assert install_bpy(plan, Told()) == f"installed bpy {BPY_VERSION}"
    assert "bytes=100000-" in index.ranges


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    """Setup never turns somebody's folder into an environment."""
    (tmp_path / "thesis.txt").touch()
    with pytest.raises(SetupFailed, match="holds other files"), locked(tmp_path, Told()):
        pass


def test_two_setups_of_one_folder_take_turns(tmp_path: Path) -> None:
    """The second waits, and says so."""
    second, order = Told(), []

    def run_second() -> None:
        with locked(tmp_path / "env", second):
            order.append("second")

    with locked(tmp_path / "env", Told()):
        thread = threading.Thread(target=run_second)
        thread.start()
        while not second.texts:
            time.sleep(0.01)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]
    assert second.texts == [f"waiting for another setup of '{tmp_path / 'env'}'"]


def test_a_pip_that_outlives_setup_keeps_the_lock(tmp_path: Path) -> None:
    """What a killed setup has started may still write: the next setup waits for its end."""
    with locked(tmp_path / "env", Told()):
        survivor = subprocess.Popen(["sleep", "0.5"], close_fds=False)
    second = Told()
    with locked(tmp_path / "env", second):
        assert survivor.wait(timeout=1) == 0
    assert second.texts


# libraries


@pytest.fixture(scope="session")
def blender() -> PythonEnvironment:
    return find_environment(HarnessSettings())


@pytest.fixture(scope="session")
def blender_libs(blender: PythonEnvironment) -> Path | None:
    return libs_dir(HarnessSettings(), blender)


def test_nothing_is_missing_after_setup(blender: PythonEnvironment, blender_libs: Path | None) -> None:
    """The environment that the tests use has all its libraries."""
    assert find_missing(blender, blender_libs) == ()


def test_an_unresolved_library_is_named(blender_libs: Path | None, tmp_path: Path) -> None:
    """What the dynamic linker does not find for bpy's module is reported under its own name."""
    environment = PythonEnvironment(tmp_path / "bin/python", tmp_path, tmp_path)
    real = read_loader(blender_libs).find("libSM.so.6")
    assert real is not None
    module = tmp_path / "lib/python3.11/site-packages/bpy/__init__.so"
    module.parent.mkdir(parents=True)
    module.write_bytes(real.read_bytes().replace(b"libICE.so.6", b"libXYZ.so.6"))
    assert "libXYZ.so.6" in find_missing(environment, blender_libs)


def test_an_unpacked_folder_must_be_complete(blender: PythonEnvironment, tmp_path: Path) -> None:
    """A folder without a driver hides the system's, so the driver counts as missing."""
    (tmp_path / "lib").mkdir()
    assert {EGL_VENDOR, SOFTWARE_DRIVER} <= set(find_missing(blender, tmp_path))


def test_packages_are_unpacked_by_anybody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """apt's archive gives libraries with their dependencies and bubblewrap, but never a C library.

    Where there is no apt, nothing is unpacked and the reason is told.
    """
    monkeypatch.setattr(debian, "PACKAGES", ("libxxf86vm1",))
    told, libs = Told(), tmp_path / "blender-libs"
    if not can_use_apt():
        with pytest.raises((SetupFailed, OSError)):
            debian.unpack(libs, tmp_path / "downloads", told)
        assert not libs.exists()
        return
    n_packages = debian.unpack(libs, tmp_path / "downloads", told)
    assert n_packages > 3
    assert (libs / "lib/libXxf86vm.so.1").resolve().is_file()
    assert (libs / "lib/libX11.so.6").resolve().is_file()
    assert not (libs / "lib/libc.so.6").exists()
    assert subprocess.run([libs / "bin/bwrap", "--version"], capture_output=True).returncode == 0


def test_a_link_out_of_its_folder_becomes_a_copy(tmp_path: Path) -> None:
    """Libraries that a package keeps elsewhere are not lost on the way."""
    folder = tmp_path / "tree/usr/lib/x86_64-linux-gnu"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep/liba.so.1").write_text("library")
    (folder / "liba.so.1").symlink_to("deep/liba.so.1")
    (folder / "liba.so").symlink_to("liba.so.1")
    debian._assemble(tmp_path / "tree", tmp_path / "into")
    assert (tmp_path / "into/lib/liba.so.1").read_text() == "library"
    assert (tmp_path / "into/lib/liba.so").readlink() == Path("liba.so.1")


def test_without_apt_the_packages_are_named(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where setup cannot get libraries, it says what to install."""
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(SetupFailed, match=r"(?s)no apt-get here.*dnf install mesa-libEGL.*pacman -S mesa"):
        provide_libraries(Plan(plan.into, may_install_packages=False), Told())


# shaders


@pytest.fixture(scope="session")
def twin(blender: PythonEnvironment, blender_libs: Path | None, tmp_path_factory: pytest.TempPathFactory) -> Plan:
    """An environment with the same bpy and libraries, and no shader cache yet."""
    plan = Plan(tmp_path_factory.mktemp("twin") / "env", python=blender.base_python)
    plan.into.mkdir()
    make_environment(plan, Told())
    site_packages = plan.environment.site_packages
    site_packages.rmdir()
    site_packages.symlink_to(blender.site_packages)
    if blender_libs:
        plan.unpacked_libs_dir.symlink_to(blender_libs)
    return plan


def seconds_of_first_frame(plan: Plan, workspace: Path) -> float:
    rendered = run_in_blender("examine.py", [], workspace=workspace, settings=plan.settings).message("rendered")
    assert rendered is not None
    return float(rendered["seconds"])


def test_a_warm_cache_saves_compiling(twin: Plan, tmp_path: Path) -> None:
    """Setup's shader cache is made once and makes the first frame faster."""
    cold = seconds_of_first_frame(twin, tmp_path)
    assert warm_shader_cache(twin, Told()).startswith("made")
    assert warm_shader_cache(twin, Told()) == "kept"
    warm = min(seconds_of_first_frame(twin, tmp_path) for _ in range(2))
    assert warm < cold * 0.75


def test_a_cache_of_another_mesa_is_cold(twin: Plan) -> None:
    """The stamp names the libraries that drew; when one of them changes, the cache is made anew."""
    warm_shader_cache(twin, Told())
    stamp = shader_cache_dir(twin.environment).with_name("shader_cache.json")
    written = stamp.read_text()
    try:
        stamp.write_text(re.sub(r'"n_bytes": \d+', '"n_bytes": 1', written, count=1))
        assert not has_warm_shaders(twin.environment, twin.libs)
        stamp.write_text("{")
        assert not has_warm_shaders(twin.environment, twin.libs)
    finally:
        stamp.write_text(written)
    assert has_warm_shaders(twin.environment, twin.libs)


def test_a_blender_that_cannot_render_is_told(blender: PythonEnvironment, tmp_path: Path) -> None:
    """Without bpy the step fails with what Blender said, and leaves no cache behind."""
    plan = Plan(tmp_path / "env", python=blender.base_python)
    plan.into.mkdir()
    make_environment(plan, Told())
    with pytest.raises(HarnessError, match="No module named 'bpy'"):
        warm_shader_cache(plan, Told())
    assert not shader_cache_dir(read_environment(plan.into / "bin/python")).exists()
