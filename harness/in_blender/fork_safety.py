"""Keeps a Blender process forkable: threads that fork does not copy must not be there, or not be waited for.

Measured: with TBB held to one thread before `import bpy` and OpenEXR's thread pool emptied, thousands of forks work;
a child that draws or evaluates heavy geometry and will not fork again may let TBB go. A process that has opened a
GPU context must never fork: its children wait for llvmpipe threads that they do not have.
"""

import ctypes
import importlib.util
import os


class _GlobalControl(ctypes.Structure):
    """tbb::detail::d1::global_control: value, reserved, parameter (0 is max_allowed_parallelism)."""

    _fields_ = (("value", ctypes.c_size_t), ("reserved", ctypes.c_ssize_t), ("parameter", ctypes.c_int))


class HeldThreads:
    """TBB at one thread, from before `import bpy` until `release`."""

    def __init__(self) -> None:
        spec = importlib.util.find_spec("bpy")
        assert spec is not None
        assert spec.origin is not None
        self._tbb = ctypes.CDLL(os.path.join(os.path.dirname(spec.origin), "lib/libtbb.so.12"))
        self._control = _GlobalControl(1, 0, 0)
        self._is_held = True
        self._tbb._ZN3tbb6detail2r16createERNS0_2d114global_controlE(ctypes.byref(self._control))

    def release(self) -> None:
        """Only in a process that will not fork again. Once: a second time would hang it."""
        if not self._is_held:
            return
        self._is_held = False
        self._tbb._ZN3tbb6detail2r17destroyERNS0_2d114global_controlE(ctypes.byref(self._control))


def empty_openexr_pool() -> None:
    """Let OpenEXR write in the calling thread; its pool's threads would be missing after a fork. After `import bpy`."""
    with open("/proc/self/maps") as maps:
        path = next((line.split()[-1] for line in maps if "libIlmThread" in line), None)
    if path is None:
        return
    library = ctypes.CDLL(path)
    pool = library._ZN13IlmThread_3_310ThreadPool16globalThreadPoolEv
    pool.restype = ctypes.c_void_p
    library._ZN13IlmThread_3_310ThreadPool13setNumThreadsEi(ctypes.c_void_p(pool()), 0)


def has_gpu_context() -> bool:
    """Whether a software GPU driver is loaded, which a headless Blender does at its first drawing."""
    with open("/proc/self/maps") as maps:
        return any("swrast_dri" in line or "libgallium" in line for line in maps)
