"""A live Blender whose steps are atomic. Speaks with `harness.step_session` over two pipes.

    python -P -s session.py RESULT_FD REQUEST_FD SETTINGS_JSON          (cwd: the workspace)

Three kinds of process, forks of one another, none of which ever opens a GPU context:

    root    imported bpy and opened the start file; forks the first head, reaps orphans, never changes
    head    holds the scene as it stands; reads requests; forks before each step and waits
    step    runs the code; when that was good it becomes the head and the old head leaves, else it leaves

Measuring and drawing happen in further children, so that they cannot change what the next step sees. A request is
its length (8 bytes, little endian) and JSON; answers are lines of JSON. If the head is lost (killed by a step), root
starts a new one from the start file and says `lost`; the caller then sends the good steps again.
"""

import ctypes
import json
import os
import select
import sys
import time
from typing import Any

HARNESS_DIR = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(os.path.dirname(HARNESS_DIR)))

from harness.in_blender import children, fork_safety
from harness.in_blender.result_pipe import ResultPipe

QUIT_STATUS = 77
_MEASURE_SECONDS = 60.0
_TICK_SECONDS = 0.1


def main() -> None:
    pipe, requests = ResultPipe(int(sys.argv[1])), int(sys.argv[2])
    settings = json.loads(sys.argv[3])
    os.set_inheritable(requests, False)
    ctypes.CDLL(None).prctl(children.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    held = fork_safety.HeldThreads()
    import bpy

    fork_safety.empty_openexr_pool()
    # imported, and once used, here and not in each child: what they learn of Blender's types takes 0.1 s
    from harness.in_blender import scene_state, scene_summary, step_views  # noqa: F401
    from harness.in_blender.drawing import draw_in_children

    scene_state.scene_state()
    draw_in_children(held)
    open_start(settings["start"])
    sys.path[0] = os.getcwd()
    sys.argv = ["final_script.py"]
    pipe.send("started", blender=bpy.app.version_string, build=bpy.app.build_hash.decode())
    while True:
        if os.fork() == 0:
            _serve_and_leave(Head(pipe, requests, held, os.getppid()))
        if _reap_until_alone():
            os._exit(0)
        pipe.send("lost")


def _serve_and_leave(head: "Head") -> None:
    """Whatever happens, this process ends here: root must not go on in two places, and Blender's own exit may hang."""
    try:
        head.serve()
    except BaseException as error:  # noqa: BLE001 - a step may have closed or broken anything
        os.write(2, f"session: {type(error).__name__}: {error}\n".encode(errors="replace"))
    finally:
        os._exit(1)


def open_start(start: dict[str, str]) -> None:
    """What the first step finds: Blender's default scene, an empty one, or a file of the workspace."""
    import bpy

    if start["kind"] in ("empty", "factory"):
        bpy.ops.wm.read_factory_settings(use_empty=start["kind"] == "empty")
    elif start["kind"] == "file":
        bpy.ops.wm.open_mainfile(filepath=os.path.abspath(start["file"]), load_ui=False, use_scripts=False)

    def keep_subdivision_on_cpu(*_arguments: object) -> None:
        bpy.context.preferences.system.use_gpu_subdivision = False

    keep_subdivision_on_cpu()
    bpy.app.handlers.load_post.append(bpy.app.handlers.persistent(keep_subdivision_on_cpu))


def _reap_until_alone() -> bool:
    """Wait until no descendant is left; whether one of them was told to quit."""
    is_quit = False
    while True:
        try:
            _, status = os.waitpid(-1, 0)
        except ChildProcessError:
            return is_quit
        if os.waitstatus_to_exitcode(status) == QUIT_STATUS:
            is_quit = True
            children.kill_all_below(os.getpid(), but=set())


class Head:
    """The process that holds the scene as it stands."""

    def __init__(self, pipe: ResultPipe, requests: int, held: fork_safety.HeldThreads, root: int) -> None:
        from harness.in_blender.step_code import StepSpace

        self.pipe, self.requests, self.held, self.root = pipe, requests, held, root
        main_module = sys.modules["__main__"] = type(sys)("__main__")
        main_module.__dict__["__file__"] = os.path.join(os.getcwd(), "final_script.py")
        self.space = StepSpace(names=main_module.__dict__)

    def serve(self) -> None:
        """Answer requests for ever; in other words, until this process is no longer the head."""
        while True:
            request = self._next_request()
            if request["op"] == "step":
                self._step(request)
            elif request["op"] == "measure":
                self._answer_measure(request)
            elif request["op"] == "save":
                self._save(request)
            else:
                os._exit(QUIT_STATUS)

    def _next_request(self) -> dict[str, Any]:
        length = int.from_bytes(self._read(8), "little")
        request: dict[str, Any] = json.loads(self._read(length))
        return request

    def _read(self, length: int) -> bytes:
        data = b""
        while len(data) < length:
            chunk = os.read(self.requests, length - len(data))
            if not chunk:
                os._exit(QUIT_STATUS)  # the harness is gone
            data += chunk
        return data

    # a step

    def _step(self, request: dict[str, Any]) -> None:
        read, write = os.pipe()
        _flush()
        step = os.fork()
        if step == 0:
            os.close(read)
            outcome = self.space.run(request["number"], request["code"], HARNESS_DIR)
            _write_all(write, json.dumps(outcome).encode() + b"\n")
            os.close(write)
            if not outcome["ok"]:
                os._exit(0)
            # from here on this process is the head; the old one has read the verdict and left
            children.kill_all_below(self.root, but={os.getpid(), os.getppid()})
            self._answer_good_step(request)
            return
        os.close(write)
        outcome = self._await_step(step, read, request)
        os.close(read)
        if outcome["ok"]:
            os._exit(0)
        children.kill_all_below(self.root, but={os.getpid()})
        _reap()
        self.pipe.send("step_failed", **outcome)

    def _await_step(self, step: int, read: int, request: dict[str, Any]) -> dict[str, Any]:
        """The step's own verdict, or what befell it."""
        deadline = time.monotonic() + request["timeout"]
        ended = os.pidfd_open(step)
        answer = b""
        try:
            while time.monotonic() < deadline:
                ready, _, _ = select.select([read, ended], [], [], _TICK_SECONDS)
                if read in ready and (chunk := os.read(read, 1 << 20)):
                    answer += chunk
                    if answer.endswith(b"\n"):
                        verdict: dict[str, Any] = json.loads(answer)
                        return verdict
                elif ended in ready:
                    return _death(os.waitpid(step, 0)[1])
                if children.memory_mb([step, *children.descendants(step)]) > request["memory_mb"]:
                    return {"ok": False, "fate": "out_of_memory"}
        finally:
            os.close(ended)
        return {"ok": False, "fate": "timeout"}

    def _answer_good_step(self, request: dict[str, Any]) -> None:
        """Measure and draw side by side in children, then say what the step left."""
        deadline = time.monotonic() + _MEASURE_SECONDS
        state = children.Child(lambda: self._measure(request))
        views = children.Child(lambda: self._draw(request["views"])) if request["views"] else None
        measured, _ = state.wait(deadline)
        drawn, _ = views.wait(deadline) if views else (b"[]", 0)
        self.pipe.send(
            "step_done",
            measured=json.loads(measured) if measured is not None else None,
            views=json.loads(drawn) if drawn is not None else None,
        )

    def _answer_measure(self, request: dict[str, Any]) -> None:
        measured, _ = children.Child(lambda: self._measure(request)).wait(time.monotonic() + _MEASURE_SECONDS)
        self.pipe.send("measured", measured=json.loads(measured) if measured is not None else None)

    def _measure(self, request: dict[str, Any]) -> bytes:
        from harness.in_blender import scene_state, scene_summary

        self.held.release()
        _silence()
        state = scene_state.scene_state()
        summary = scene_summary.measure(request["summary_samples"])
        return json.dumps({"state": state, "summary": summary}).encode()

    def _draw(self, views: dict[str, int]) -> bytes:
        from harness.in_blender import step_views

        self.held.release()
        _silence()
        return json.dumps(step_views.draw(views["width"], views["height"], views["n_frames"])).encode()

    def _save(self, request: dict[str, Any]) -> None:
        _flush()
        answer, _ = children.Child(lambda: _save(request)).wait(time.monotonic() + _MEASURE_SECONDS)
        self.pipe.send("saved", ok=answer is not None)


def _save(request: dict[str, Any]) -> bytes:
    """Write the scene to a file of the workspace: pictures packed, paths relative, compressed."""
    import bpy

    try:
        bpy.ops.file.pack_all()
    except RuntimeError as error:  # a missing picture is the checks' business
        print(error)
    bpy.ops.wm.save_as_mainfile(
        filepath=os.path.abspath(request["file"]), copy=True, compress=True, relative_remap=True, check_existing=False
    )
    return b"saved"


def _death(status: int) -> dict[str, Any]:
    code = os.waitstatus_to_exitcode(status)
    return {"ok": False, "fate": "crash", "signal": -code} if code < 0 else {"ok": False, "fate": "no_result"}


def _reap() -> None:
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                return
        except ChildProcessError:
            return


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            continue


def _silence() -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


if __name__ == "__main__":
    main()
