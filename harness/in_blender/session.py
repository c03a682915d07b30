"""A live Blender whose steps are atomic. Speaks with `harness.step_session` over two pipes.

    python -P -s session.py RESULT_FD REQUEST_FD SETTINGS_JSON          (cwd: the workspace)

Three kinds of process, forks of one another, none of which ever opens a GPU context:

    root    imported bpy and opened the start file; forks the first head, reaps orphans, never changes
    head    holds the scene as it stands; reads requests; has a fork of itself ready for the next step
    step    runs the code; when that was good it becomes the head and the old head leaves, else it leaves

Measuring, drawing and saving happen in further children, so that they cannot change what the next step sees. A
request is its length (8 bytes, little endian) and JSON; answers are lines of JSON that carry the request's `id`.
When the head is lost (killed by a step) everything ends, and the caller starts anew.

A step's code runs in a process that holds these pipes. It can close them or write to them: the step is then refused,
or the session is lost; what it claims is checked outside.
"""

import gc
import json
import mmap
import os
import select
import signal
import struct
import sys
import time
from collections.abc import Iterator
from typing import Any

HARNESS_DIR = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(os.path.dirname(HARNESS_DIR)))

from harness.in_blender import children, fork_safety
from harness.in_blender.step_code import StepSpace

QUIT_STATUS, MUTE_STATUS = 77, 78
_TICK_SECONDS = 0.1
_MAX_VERDICT = 1 << 20


def main() -> None:
    settings = json.loads(sys.argv[3])
    wire = Wire(int(sys.argv[1]), int(sys.argv[2]))
    children.LIBC.prctl(children.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    held = fork_safety.HeldThreads()
    import bpy

    fork_safety.empty_openexr_pool()
    work = Work(held)
    work.learn()
    work.draw_in_children()
    _hide_from_scripts()
    exec(settings["start_script"], {"__name__": "__start__"})
    _keep_subdivision_on_cpu()
    wire.send("started", blender=_json(bpy.app.version_string), build=_json(bpy.app.build_hash.decode()))
    head_pid = SharedNumber()
    children.flush()
    gc.freeze()  # so that later collections do not touch, and copy, the pages of all that is here now
    if children.fork() == 0:
        _serve_and_leave(Head(wire, work, head_pid, root=os.getppid()))
    os._exit(_stand_by(head_pid))


def _hide_from_scripts() -> None:
    """Scripts may have a module of our name, and see the workspace first on the path, as `python final_script.py`."""
    for name in [name for name in sys.modules if name.split(".")[0] == "harness"]:
        del sys.modules[name]
    here = os.path.dirname(os.path.dirname(HARNESS_DIR))
    sys.path[:] = [os.getcwd(), *(path for path in sys.path if path not in (here, HARNESS_DIR))]
    sys.argv = ["final_script.py"]


def _keep_subdivision_on_cpu() -> None:
    """GPU subdivision makes the second render of a scene differ from the first; a factory reset brings it back."""
    import bpy

    def keep(*_arguments: object) -> None:
        bpy.context.preferences.system.use_gpu_subdivision = False

    keep()
    bpy.app.handlers.load_post.append(bpy.app.handlers.persistent(keep))


def _serve_and_leave(head: "Head") -> None:
    """Whatever happens, this process ends here: root must not go on in two places, and Blender's own exit may hang."""
    try:
        head.serve()
    except BaseException as error:  # noqa: BLE001 - a step may have closed or broken anything
        os.write(2, f"session: {type(error).__name__}: {error}\n".encode(errors="replace"))
    finally:
        os._exit(1)


def _stand_by(head_pid: "SharedNumber") -> int:
    """Root's part: reap, wake a head that a step has stopped, and end everything when the head is gone."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WUNTRACED)
        except ChildProcessError:
            return 1
        if os.WIFSTOPPED(status):
            if pid == head_pid.get():
                os.kill(pid, signal.SIGCONT)
        elif pid == head_pid.get():
            children.end_all_below(os.getpid(), but=set())
            code = os.waitstatus_to_exitcode(status)
            # the harness runs a step again whose session was killed
            return 0 if code == QUIT_STATUS else 128 + signal.SIGKILL if code == -signal.SIGKILL else 1


class SharedNumber:
    """A number that all forks see: who is the head."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 8)

    def set(self, number: int) -> None:
        struct.pack_into("q", self._memory, 0, number)

    def get(self) -> int:
        return int(struct.unpack_from("q", self._memory, 0)[0])


class Wire:
    """Both pipes to the harness."""

    def __init__(self, results: int, requests: int) -> None:
        self._results, self._requests = children.out_of_the_way(results), children.out_of_the_way(requests)
        self._output = [children.out_of_the_way(os.dup(number)) for number in (1, 2)]
        self._places = self._look()

    def _look(self) -> list[tuple[int, int]]:
        return [(s.st_dev, s.st_ino) for s in map(os.fstat, (self._results, self._requests, *self._output))]

    def is_whole(self) -> bool:
        """Whether a step has left the pipes alone. What it closed of stdin, stdout and stderr is opened again."""
        try:
            if self._look() != self._places:
                return False
        except OSError:
            return False
        for number, saved in enumerate((None, *self._output)):
            try:
                os.fstat(number)
            except OSError:
                source = os.open(os.devnull, os.O_RDONLY) if saved is None else saved
                if source != number:
                    os.dup2(source, number)
        return True

    def next_request(self) -> dict[str, Any]:
        length = int.from_bytes(_read_exactly(self._requests, 8), "little")
        request: dict[str, Any] = json.loads(_read_exactly(self._requests, length))
        return request

    def send(self, kind: str, number: int = 0, **content: bytes) -> None:
        """A line of JSON whose values are JSON already. It begins with a line end: a step may have left half a line."""
        values = b"".join(b', "%s": %s' % (name.encode(), value) for name, value in content.items())
        children.write_all(self._results, b'\n{"kind": "%s", "id": %d%s}\n' % (kind.encode(), number, values))


def _read_exactly(descriptor: int, length: int) -> bytes:
    """So many bytes; ends this process when nobody is left to write them."""
    data = b""
    while len(data) < length:
        chunk = os.read(descriptor, length - len(data))
        if not chunk:
            os._exit(QUIT_STATUS)
        data += chunk
    return data


class Work:
    """What is done in children, each with a copy of the scene. Holds the modules, which scripts do not see."""

    def __init__(self, held: fork_safety.HeldThreads) -> None:
        from harness.in_blender import drawing, saving, scene_state, scene_summary, step_views

        self._held, self._saving = held, saving
        self._state, self._summary, self._drawing, self._views = scene_state, scene_summary, drawing, step_views

    def learn(self) -> None:
        """Once here and not in each child: what reading a scene learns of Blender's types takes 10 to 50 ms."""
        self._state.prepare()
        self._state.scene_state()
        self._summary.measure(1)

    def measure(self, n_samples: int) -> Iterator[bytes]:
        """Two lines: the state, then the summary. The second runs the script's frame handlers, which may hang."""
        self._held.release()
        _silence()
        yield _json(self._state.scene_state()) + b"\n"
        yield _json(self._summary.measure(n_samples)) + b"\n"

    def draw_in_children(self) -> None:
        """From now on operators that draw do so in forked children, in this process and those that come of it."""
        self._drawing.draw_in_children(self._held)

    def draw(self, views: dict[str, int]) -> Iterator[bytes]:
        self._drawing.draw_in_this_process(self._held)
        _silence()
        for view in self._views.draw(views["width"], views["height"], views["n_frames"]):
            yield _json(view) + b"\n"

    def save(self, path: str) -> Iterator[bytes]:
        """Write the scene to a file; yields what went wrong."""
        try:
            self._saving.save_scene(path)
        except Exception as error:  # noqa: BLE001 - told to the harness
            yield f"{type(error).__name__}: {error}".encode(errors="replace")
        children.flush()


class _NextStep:
    """A fork of the head that waits for the code of the next step."""

    def __init__(self, pid: int, verdict: int, request: int) -> None:
        self.pid, self.verdict, self.request = pid, verdict, request


class Head:
    """The process that holds the scene as it stands."""

    def __init__(self, wire: Wire, work: Work, head_pid: SharedNumber, root: int) -> None:
        self.wire, self.work, self.head_pid, self.root = wire, work, head_pid, root
        self.heads = {os.getpid()}
        """This and all before it: the last ones may still be on their way out."""
        self._next: _NextStep | None = None
        self.workspace = os.getcwd()
        head_pid.set(os.getpid())
        main_module = sys.modules["__main__"] = type(sys)("__main__")
        main_module.__dict__["__file__"] = os.path.join(self.workspace, "final_script.py")
        self.space = StepSpace(self.workspace, HARNESS_DIR, names=main_module.__dict__)

    def serve(self) -> None:
        """Answer requests for ever; in other words, until this process is no longer the head."""
        while True:
            request = self.wire.next_request()
            if request["op"] == "step":
                self._step(request)
            elif request["op"] == "measure":
                self._measure_and_draw(request)
            elif request["op"] == "save":
                self._save(request)
            else:
                os._exit(QUIT_STATUS)

    def _step(self, request: dict[str, Any]) -> None:
        if self._fork_next():
            return  # as the new head
        step, self._next = self._next, None
        assert step is not None
        data = _json(request)
        try:
            children.write_all(step.request, len(data).to_bytes(8, "little") + data)
            verdict = self._await_step(step.pid, step.verdict, request)
        except BrokenPipeError:
            verdict = _death(children.wait_for(step.pid))
        if verdict["ok"]:
            self.head_pid.set(step.pid)
            children.write_all(step.request, b".")
            os._exit(0)
        os.kill(self.root, signal.SIGCONT)  # the step may have stopped it
        children.end_all_below(self.root, but={os.getpid()})
        os.close(step.verdict)
        os.close(step.request)
        self.wire.send("step_failed", request["id"], **{name: _json(value) for name, value in verdict.items()})
        self._fork_next()

    def _fork_next(self) -> bool:
        """Have the process of the next step ready: a fork takes 6 to 11 ms, for which nobody has to wait.

        True in that process, once it has been asked, has run its step, and is the head.
        """
        if self._next is not None:
            return False
        (read, write), (request_read, request_write) = children.pipe(), children.pipe()
        pid = children.fork()
        if pid == 0:
            os.close(read)
            os.close(request_write)
            self._run_step(write, request_read)
            return True
        os.close(write)
        os.close(request_read)
        self._next = _NextStep(pid, read, request_write)
        return False

    def _run_step(self, write: int, requests: int) -> None:
        """In the step's process: run the code; return only when the old head has agreed that this is the head now."""
        children.die_with_parent(True)
        length = int.from_bytes(_read_exactly(requests, 8), "little")
        request = json.loads(_read_exactly(requests, length))
        verdict = self.space.run(request["number"], request["code"])
        if not self.wire.is_whole():
            os._exit(MUTE_STATUS)  # the verdict's pipe may be gone too
        if verdict["ok"] and (strays := set(children.descendants(self.root)) - self.heads - {os.getpid()}):
            reason = f"it left {len(strays)} process(es) running; wait for them before the step ends"
            verdict = {"ok": False, "error": None, "refused": reason}
        if verdict["ok"]:
            _calm_down()
            self.heads.add(os.getpid())
            children.die_with_parent(False)
        children.write_all(write, _json(verdict) + b"\n")
        if not verdict["ok"] or os.read(requests, 1) != b".":
            os._exit(0)
        os.close(write)
        os.close(requests)
        self.wire.send("step_done", request["id"])

    def _await_step(self, step: int, read: int, request: dict[str, Any]) -> dict[str, Any]:
        """The step's own verdict, or what befell it."""
        deadline = time.monotonic() + request["timeout"]
        ended = os.pidfd_open(step)
        poller = select.poll()
        poller.register(read, select.POLLIN)
        poller.register(ended, select.POLLIN)
        answer = b""
        try:
            next_tick = time.monotonic() + _TICK_SECONDS
            while (now := time.monotonic()) < deadline:
                ready = {descriptor for descriptor, _ in poller.poll(max(0.0, min(next_tick, deadline) - now) * 1000)}
                if read in ready and (chunk := os.read(read, 1 << 16)):
                    answer += chunk
                    if answer.endswith(b"\n") or len(answer) > _MAX_VERDICT:
                        return _verdict(answer)
                elif ended in ready:
                    return _death(children.wait_for(step))
                elif ready:
                    poller.unregister(read)  # it has closed its end; what it still does is up to `ended`
                if time.monotonic() >= next_tick:
                    if children.memory_mb(step, request["memory_mb"]) > request["memory_mb"]:
                        return {"ok": False, "fate": "out_of_memory"}
                    next_tick = time.monotonic() + _TICK_SECONDS
        finally:
            os.close(ended)
        return {"ok": False, "fate": "timeout"}

    def _measure_and_draw(self, request: dict[str, Any]) -> None:
        """Side by side in children; `null` for what could not be had in time."""
        deadline = time.monotonic() + request["seconds"]
        n_samples, views = request["summary_samples"], request["views"]
        measuring = children.Child(lambda: self.work.measure(n_samples))
        drawing = children.Child(lambda: self.work.draw(views)) if views else None
        if self._fork_next():  # while the others work
            for child in filter(None, (measuring, drawing)):
                child.let_go()
            return  # as the new head
        lines = measuring.answer(deadline).split(b"\n")
        state, summary = (lines[i] if len(lines) > i + 1 else b"null" for i in (0, 1))
        drawn, status = drawing.wait(deadline) if drawing else (b"", 0)
        pictures = b"[" + b", ".join(drawn.split(b"\n")[:-1]) + b"]"
        answer = {"state": state, "summary": summary, "views": pictures, "is_all_drawn": _json(status == 0)}
        self.wire.send("measured", request["id"], **answer)
        measuring.wait(deadline)  # giving back its memory takes 3 ms, which nobody waits for

    def _save(self, request: dict[str, Any]) -> None:
        path = os.path.join(self.workspace, request["file"])
        error, status = children.Child(lambda: self.work.save(path)).wait(time.monotonic() + request["seconds"])
        reason = error.decode(errors="replace") if status == 0 else "it crashed or took too long"
        self.wire.send("saved", request["id"], error=_json(reason))


def _verdict(answer: bytes) -> dict[str, Any]:
    """What a step said of itself. Its code could reach the pipe, so that this may be anything."""
    try:
        verdict = json.loads(answer)
    except ValueError:
        verdict = None
    if isinstance(verdict, dict) and isinstance(verdict.get("ok"), bool):
        return {name: verdict.get(name) for name in ("ok", "error", "refused")}
    return {"ok": False, "fate": "no_result"}


def _death(status: int) -> dict[str, Any]:
    code = os.waitstatus_to_exitcode(status)
    if code == MUTE_STATUS:
        return {"ok": False, "refused": "it closed file descriptors that it had not opened"}
    return {"ok": False, "fate": "crash", "signal": -code} if code < 0 else {"ok": False, "fate": "no_result"}


def _calm_down() -> None:
    """Clocks that a step has set would go off in the session itself, and its handlers would take our children."""
    try:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    except ValueError:
        pass


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


def _silence() -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


if __name__ == "__main__":
    main()
