"""Keeps what a process printed within bounds: its beginning and its end, and how much there was."""

from collections import deque


class BoundedOutput:
    """A byte sink that remembers the first `head` and the last `tail` bytes."""

    def __init__(self, *, head: int = 1 << 16, tail: int = 1 << 18) -> None:
        self._head_size, self._tail_size = head, tail
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_length = 0
        self.n_bytes = 0

    def write(self, chunk: bytes) -> None:
        self.n_bytes += len(chunk)
        room = self._head_size - len(self._head)
        self._head += chunk[:room]
        rest = chunk[room:] if room > 0 else chunk
        if rest:
            self._tail.append(rest)
            self._tail_length += len(rest)
        while self._tail and self._tail_length - len(self._tail[0]) >= self._tail_size:
            self._tail_length -= len(self._tail.popleft())

    @property
    def n_left_out(self) -> int:
        """Bytes between the kept head and the kept tail."""
        return self.n_bytes - len(self._head) - min(self._tail_length, self._tail_size)

    def text(self) -> str:
        """What was kept, as text; a line in the middle says how much is left out."""
        tail = b"".join(self._tail)[-self._tail_size :]
        if not self.n_left_out:
            return (bytes(self._head) + tail).decode(errors="replace")
        notice = f"\n[... {self.n_left_out} bytes left out ...]\n"
        return bytes(self._head).decode(errors="replace") + notice + tail.decode(errors="replace")
