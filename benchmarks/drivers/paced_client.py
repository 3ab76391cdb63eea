"""A client that sends requests at a given rate, whether or not others are answered, and prints how long each took.

    python paced_client.py PORT RATE SECONDS CONNECTIONS < requests

Standard input holds the requests, base64, one per line; they are sent in turn. A request is timed from when it was due,
so that one that waits for a free connection counts its waiting. The client never sleeps: its own timer would add to
what it measures. Prints the latencies in seconds as a list of JSON, those of the first second left out.
"""

from __future__ import annotations

import base64
import gc
import json
import select
import socket
import sys
import time
from collections import deque

WARM = 1.0  # seconds


class Connection:
    """A socket, and what has come of the answer that it waits for."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.due = 0.0
        self.data = b""

    def is_answered(self) -> bool:
        """Read what is there; whether the answer is whole."""
        part = self.socket.recv(1 << 16)
        if not part:
            raise SystemExit("the server has closed a connection")
        self.data += part
        head, blank, body = self.data.partition(b"\r\n\r\n")
        if not blank:
            return False
        lower = head.lower()
        first = lower.index(b"content-length: ") + 16
        end = lower.find(b"\r", first)
        if len(body) < int(lower[first : end if end > 0 else None]):
            return False
        if not head.startswith(b"HTTP/1.1 200"):
            raise SystemExit(f"not answered: {self.data[:500]!r}")
        self.data = b""
        return True


def main(port: int, rate: float, seconds: float, connections: int) -> None:
    requests = [base64.b64decode(line) for line in sys.stdin]
    free = deque(Connection(port) for _ in range(connections))
    by_number = {each.socket.fileno(): each for each in free}
    poll = select.epoll()
    for number in by_number:
        poll.register(number, select.EPOLLIN)
    gc.disable()
    total, sent, waiting = int(rate * (seconds + WARM)), 0, 0
    taken: list[float] = []
    start = time.perf_counter()
    while sent < total or waiting:
        now = time.perf_counter()
        while free and sent < total and start + sent / rate <= now:
            each = free.popleft()
            each.due = start + sent / rate
            each.socket.sendall(requests[sent % len(requests)])
            sent += 1
            waiting += 1
        for number, _ in poll.poll(0):
            each = by_number[number]
            if each.is_answered():
                if each.due >= start + WARM:
                    taken.append(time.perf_counter() - each.due)
                waiting -= 1
                free.append(each)
    json.dump(taken, sys.stdout)


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]))
