"""Lets a step draw without opening a GPU context in the session: operators that draw run in a forked child.

Files that a render writes are real; its return value and its error come back. What the child changed in memory
does not: handlers that ran during the render, simulation caches it filled, and the pixels of 'Render Result'.
Baking (`object.bake`, Cycles on the processor) opens no GPU context, changes pixels in memory, and stays in the step.
"""

import json
import sys
import time
from collections.abc import Iterator
from typing import Any

from harness.in_blender.children import Child, flush
from harness.in_blender.fork_safety import HeldThreads, has_gpu_context

DRAWING_OPERATORS = {
    "render.render",
    "render.opengl",
    "render.play_rendered_anim",
    "ed.lib_id_generate_preview",
    "wm.previews_ensure",
}
_FOR_EVER = 86_400.0
_true_call: dict[str, Any] = {}
"""The call behind `bpy.ops`, as it was."""


def draw_in_this_process(held: HeldThreads) -> None:
    """In a process that will not fork again: let threads go, and let operators draw here.

    Forking once more for each picture would hang: evaluation may have started threads by then (measured).
    """
    held.release()
    draw_here()


def draw_in_children(held: HeldThreads) -> None:
    """Replace the call behind `bpy.ops` for the operators that draw. Lasts for this process and its children."""
    module: Any = sys.modules["bpy.ops"]
    call = _true_call["op"] = module._op_call

    def call_or_fork(name: str, *arguments: Any) -> set[str]:
        if name not in DRAWING_OPERATORS:
            result: set[str] = call(name, *arguments)
            return result
        return _call_in_child(lambda: call(name, *arguments), held)

    module._op_call = call_or_fork


def draw_here() -> None:
    """Let a process that will not fork again draw by itself."""
    module: Any = sys.modules["bpy.ops"]
    module._op_call = _true_call["op"]


def _call_in_child(call: Any, held: HeldThreads) -> set[str]:
    def draw() -> Iterator[bytes]:
        draw_in_this_process(held)
        try:
            answer: dict[str, Any] = {"result": sorted(call())}
        except Exception as error:  # noqa: BLE001 - handed on to the step
            answer = {"error": str(error), "is_type_error": isinstance(error, TypeError)}
        flush()
        yield json.dumps(answer).encode()

    if has_gpu_context():
        raise RuntimeError("this step has opened a GPU context by itself, and cannot render any more")
    flush()
    answered, status = Child(draw).wait(time.monotonic() + _FOR_EVER)
    if status or not answered:
        raise RuntimeError(f"Blender crashed while rendering (signal {status & 127})")
    answer = json.loads(answered)
    if "error" in answer:
        raise (TypeError if answer["is_type_error"] else RuntimeError)(answer["error"])
    return set(answer["result"])
