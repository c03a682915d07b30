"""Runs the code of one step in the session's namespace, under the name step_NN.py."""

import __future__

import _thread
import ast
import os
from dataclasses import dataclass
from typing import Any

from harness.in_blender import children, fork_safety, script_errors

_FUTURE_FLAGS = 0
for _name in __future__.all_feature_names:
    _FUTURE_FLAGS |= getattr(__future__, _name).compiler_flag


class RefusedStep(Exception):
    """The step cannot be part of a script made of all steps in order."""


@dataclass
class StepSpace:
    """What persists between steps beside Blender's own data: names, and the future statements of the first step."""

    workspace: str
    harness_dir: str
    names: dict[str, Any]
    compiler_flags: int = 0
    n_good_steps: int = 0
    source: str = ""
    """All good steps so far: what `inspect` finds under `__file__`."""

    @property
    def file(self) -> str:
        return os.path.join(self.workspace, "final_script.py")

    def run(self, number: int, code: str) -> dict[str, Any]:
        """Execute a step; returns how it ended. Only a good one may be kept."""
        name = f"step_{number:02d}.py"
        script_errors.remember_source(name, code)
        script_errors.remember_source(self.file, self.source + code)
        places = script_errors.Places(workspace=self.workspace, script=name, harness=self.harness_dir)
        try:
            compiled = self._compile(name, code)
            exec(compiled, self.names)
            self._refuse_leftovers()
        except SystemExit as end:
            return _failed(end, places, "sys.exit() and SystemExit would end the final script here; leave them out")
        except RefusedStep as refused:
            return {"ok": False, "error": None, "refused": str(refused)}
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is the step's outcome
            return _failed(error, places)
        finally:
            children.flush()
        self.compiler_flags |= compiled.co_flags & _FUTURE_FLAGS
        self.n_good_steps += 1
        self.source += code + "\n"
        return {"ok": True, "error": None, "refused": None}

    def _compile(self, name: str, code: str) -> Any:
        tree = compile(code, name, "exec", ast.PyCF_ONLY_AST | self.compiler_flags, dont_inherit=True)
        futures = [n for n in tree.body if isinstance(n, ast.ImportFrom) and n.module == "__future__"]
        if futures and self.n_good_steps:
            raise RefusedStep(
                f"line {futures[0].lineno}: `from __future__` may stand in the first step only, because the steps "
                "become one script"
            )
        return compile(tree, name, "exec", self.compiler_flags, dont_inherit=True)

    def _refuse_leftovers(self) -> None:
        """What a copy of the process cannot hold."""
        if fork_safety.has_gpu_context():
            raise RefusedStep("the step opened a GPU context by itself; draw with bpy.ops.render.render only")
        n_threads = _thread._count()
        if n_threads:
            raise RefusedStep(f"the step left {n_threads} thread(s) running; join them before the step ends")


def _failed(error: BaseException, places: script_errors.Places, refused: str | None = None) -> dict[str, Any]:
    return {"ok": False, "error": script_errors.describe(error, places), "refused": refused}
