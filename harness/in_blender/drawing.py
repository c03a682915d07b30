"""Lets a step draw without opening a GPU context in the session: operators that draw run in a forked child.

Files that a render writes are real; its return value and its error come back. What the child changed in memory
does not: handlers that ran during the render, and the pixels of 'Render Result'.
"""

import json
import sys
import time
from typing import Any

from harness.in_blender.children import Child
from harness.in_blender.fork_safety import HeldThreads

DRAWING_OPERATORS = {"render.render", "render.opengl", "render.play_rendered_anim"}
_FOR_EVER = 86_400.0


def draw_in_children(held: HeldThreads) -> None:
    """Replace the call behind `bpy.ops` for the operators that draw. Lasts for this process and its children."""
    module: Any = sys.modules["bpy.ops"]
    call = module._op_call

    def call_or_fork(name: str, *arguments: Any) -> set[str]:
        if name not in DRAWING_OPERATORS:
            return set(call(name, *arguments))
        return _call_in_child(lambda: call(name, *arguments), held)

    module._op_call = call_or_fork


def _call_in_child(call: Any, held: HeldThreads) -> set[str]:
    def draw() -> bytes:
        held.release()
        try:
            answer: dict[str, Any] = {"result": sorted(call())}
        except Exception as error:  # noqa: BLE001 - handed on to the step
            answer = {"error": str(error)}
        sys.stdout.flush()
        sys.stderr.flush()
        return json.dumps(answer).encode()

    sys.stdout.flush()
    sys.stderr.flush()
    answered, status = Child(draw).wait(time.monotonic() + _FOR_EVER)
    if answered is None:
        raise RuntimeError(f"Blender crashed while rendering (signal {status & 127})")
    answer = json.loads(answered)
    if "error" in answer:
        raise RuntimeError(answer["error"])
    return set(answer["result"])
