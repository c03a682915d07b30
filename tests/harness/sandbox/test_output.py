"""Bounded output."""

from harness.sandbox.output import BoundedOutput


def test_short_output_is_whole() -> None:
    """What fits is kept as it is."""
    output = BoundedOutput(head=10, tail=10)
    for chunk in (b"hello ", b"world ", b"again"):
        output.write(chunk)
    assert (output.text(), output.n_left_out) == ("hello world again", 0)


def test_long_output_keeps_both_ends() -> None:
    """Of a flood the beginning and the end stay, and how much lies between."""
    output = BoundedOutput(head=5, tail=5)
    output.write(b"ABCDE" + b"x" * 1_000_000)
    output.write(b"VWXYZ")
    assert output.n_left_out == 1_000_000
    assert output.text() == "ABCDE\n[... 1000000 bytes left out ...]\nVWXYZ"


def test_memory_is_bounded_by_small_writes() -> None:
    """Many small chunks are dropped as they pass the tail."""
    output = BoundedOutput(head=10, tail=100)
    for _ in range(10_000):
        output.write(b"0123456789")
    assert len(output._tail) <= 11
    assert output.n_bytes == 100_000
