#!/usr/bin/env python3
"""Writes seeds for control_fuzz.cpp: messages of both directions of a control connection.

    tests/fuzz/control_seeds.py FOLDER
"""

import pathlib
import struct
import sys

from join_seeds import assignment, number, step, text


def framed(*messages):
    return b"".join(struct.pack("<H", len(m)) + m for m in messages)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    order = text(2, assignment()[1:])
    go = text(4, number(1, 0) + number(2, 1_000_000))
    ping = text(8, number(1, 77))
    finish = text(7, b"")
    failure = text(6, text(1, b"why\x1b[2J\n") + number(3, 1) + text(4, b"lost") + number(5, 7))
    nccl = text(40, b"x" * 128)
    ready = text(3, text(40, b"a note\x07") + text(41, number(1, 0) + number(2, 9) + number(3, 1)) + number(42, 5))
    result = step()[5:]
    alive = text(10, text(1, b"in step 3") + number(2, -1) + text(3, b"rank 0 waits"))
    pong = text(9, number(1, 5) + number(2, 6) + number(3, 7))
    seeds = {
        "orders": b"\x00" + framed(order, ping, go, finish),
        "orders_go_late": b"\x00" + framed(order, text(4, number(1, 0) + number(2, (1 << 63) - 1))),
        "orders_failure": b"\x00" + framed(ping, failure),
        "orders_nccl": b"\x00" + framed(order, nccl, failure),
        "orders_twice": b"\x00" + framed(order, order),
        "answers": b"\x01" + framed(alive, ready, pong, result, ready),
        "answers_failure": b"\x01" + framed(alive, failure),
        "answers_many": b"\x01" + framed(*[ready] * 12),
        "answers_early": b"\x01" + framed(result, ready),
        "answers_alive": b"\x01" + framed(*[alive] * 200),
        "raw_orders": b"\x02" + struct.pack("<I", 1 << 30) + order,
        "raw_answers": b"\x03" + struct.pack("<I", len(ready)) + ready + b"\xff" * 40,
    }
    for name, content in seeds.items():
        (folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
