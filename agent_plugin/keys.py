"""Keeps the keys of model providers from the other processes of this user."""

import ctypes
import sys

_PR_SET_DUMPABLE = 4  # <linux/prctl.h>


def hide_keys() -> None:
    """From now on no process of this user can read this process's environment and memory, or attach to it.

    It gives /proc/PID/environ and mem to root and writes no core dump. Against root nothing helps. What is started
    from here is not affected: it gets a new memory, and an environment that is named.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
