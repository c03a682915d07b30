"""Slots let so many Blenders work at once, in order, with memory to start; nobody waits for a second one."""

import random
import threading
import time
from collections.abc import Callable

import pytest

from harness.blender_slots import (
    BLENDER_MB,
    LEFT_MB,
    SESSION_MB,
    BlenderSlots,
    admission,
    blender_slots,
    default_slots,
)
from harness.errors import NotEnoughMemory, WaitStopped

PLENTY = 1 << 20


def in_threads(*jobs: Callable[[], None], seconds: float = 30) -> None:
    """Run all at once; a job that does not end fails the test."""
    errors: list[BaseException] = []

    def run(job: Callable[[], None]) -> None:
        try:
            job()
        except BaseException as error:  # noqa: BLE001 - told below
            errors.append(error)

    threads = [threading.Thread(target=run, args=(job,), daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    assert not any(thread.is_alive() for thread in threads), "they wait for each other"
    assert errors == []


def test_outside_of_a_launch_nothing_waits() -> None:
    """Nor is anything said to Mesa."""
    slots = blender_slots()
    assert slots.n_slots is None
    assert slots.environment == {}
    with slots.working(1 << 40):
        pass


def test_never_more_work_than_there_are_slots() -> None:
    """Whatever the number of threads."""
    slots, lock, working, most = BlenderSlots(3, available_mb=lambda: PLENTY), threading.Lock(), [0], [0]

    def job() -> None:
        for _ in range(3):
            with slots.working(BLENDER_MB):
                with lock:
                    working[0] += 1
                    most[0] = max(most[0], working[0])
                time.sleep(0.005)
                with lock:
                    working[0] -= 1

    in_threads(*[job] * 20)
    assert most == [3]


def test_who_waits_longest_is_next() -> None:
    """A run that came first starts first."""
    slots, order, threads = BlenderSlots(1), list[int](), list[threading.Thread]()

    def job(number: int) -> None:
        with slots.working():
            order.append(number)

    with slots.working():
        for number in range(8):
            threads.append(threading.Thread(target=job, args=(number,)))
            threads[-1].start()
            while len(slots._line) <= number:
                time.sleep(0.001)
    for thread in threads:
        thread.join()
    assert order == list(range(8))


def test_one_slot_and_many_sessions_do_not_lock_each_other() -> None:
    """Each starts, steps with pauses between (which hold nothing), and is judged by Blenders within one turn."""
    slots = BlenderSlots(1, available_mb=lambda: PLENTY)
    chance = random.Random(2026)

    def episode() -> None:
        with slots.working(SESSION_MB):
            time.sleep(0.001)
        for _ in range(4):
            time.sleep(chance.random() / 200)  # the model thinks
            with slots.working(), slots.working(SESSION_MB):  # a session that is rebuilt in its step
                time.sleep(0.001)
        with slots.working(BLENDER_MB):
            for _ in range(3):
                with slots.working(BLENDER_MB):
                    time.sleep(0.001)

    in_threads(*[episode] * 40)
    assert slots._n_working == 0


def test_memory_is_there_before_a_blender_starts() -> None:
    """Else it waits, and it is told for what; it goes on when there is enough."""
    available, said = [LEFT_MB + BLENDER_MB - 1], list[str]()
    slots = BlenderSlots(2, available_mb=lambda: available[0], say=said.append)

    def free() -> None:
        time.sleep(0.3)
        available[0] += 1

    def run() -> None:
        started = time.monotonic()
        with slots.working(BLENDER_MB):
            assert time.monotonic() - started >= 0.25

    in_threads(free, run)
    assert said == ["memory for Blender", ""]


def test_who_needs_no_memory_does_not_wait_behind_who_does() -> None:
    """A step of a session that is there goes on while another session finds no room: it is what will make room."""
    slots, stop = BlenderSlots(1, available_mb=lambda: LEFT_MB, is_stopped=lambda: stop_now.is_set()), list[str]()
    stop_now = threading.Event()

    def start() -> None:
        with pytest.raises(WaitStopped), slots.working(SESSION_MB):
            stop.append("entered")

    def step() -> None:
        while not slots._line:
            time.sleep(0.001)
        with slots.working():
            pass
        stop_now.set()

    in_threads(start, step)
    assert stop == []


def test_two_that_start_at_once_do_not_take_the_same_memory() -> None:
    """The first has not grown yet when the second looks."""
    slots = BlenderSlots(2, available_mb=lambda: LEFT_MB + BLENDER_MB + BLENDER_MB // 2, max_wait_for_memory=0.0)
    second = list[str]()

    def other() -> None:
        with pytest.raises(NotEnoughMemory), slots.working(BLENDER_MB):
            second.append("entered")

    with slots.working(BLENDER_MB):
        in_threads(other)
    assert second == []


def test_too_little_memory_for_too_long_is_the_machines_failure() -> None:
    """With what is needed and what there is."""
    slots = BlenderSlots(1, available_mb=lambda: 700, max_wait_for_memory=0.0)
    with pytest.raises(NotEnoughMemory, match=r"needs 768 MiB of memory, and 700 MiB"), slots.working(BLENDER_MB):
        pass
    assert slots._n_working == len(slots._line) == 0


def test_a_stop_ends_the_waiting() -> None:
    """And takes no slot."""
    slots = BlenderSlots(1, is_stopped=lambda: True)

    def other() -> None:
        with pytest.raises(WaitStopped), slots.working():
            raise AssertionError("entered")

    with slots.working():
        in_threads(other)
    assert slots._n_working == 0


def test_the_slots_share_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mesa gets as many threads as there are cores for a slot; with one slot it decides for itself."""
    monkeypatch.setattr("os.sched_getaffinity", lambda _pid: set(range(8)))
    assert [BlenderSlots(n).environment.get("LP_NUM_THREADS") for n in (1, 2, 4, 5, 8, 16)] == [
        *(None, "4", "2", "0", "0", "0")
    ]
    assert 1 <= default_slots() <= 8


def test_they_are_in_force_for_a_while() -> None:
    """And those before them again afterwards."""
    slots = BlenderSlots(2)
    with admission(slots):
        assert blender_slots() is slots
    assert blender_slots().n_slots is None
