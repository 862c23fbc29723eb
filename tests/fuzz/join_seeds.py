#!/usr/bin/env python3
"""Writes seeds for join_fuzz.cpp: messages of a run with valid numbers, and some with invalid numbers.

    tests/fuzz/join_seeds.py FOLDER
"""

import pathlib
import struct
import sys


def varint(value):
    value &= (1 << 64) - 1
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def text(field, value):
    return varint(field << 3 | 2) + varint(len(value)) + value


def double(field, value):
    return varint(field << 3 | 1) + struct.pack("<d", value)


def assignment(worker=0, peers=2, steps=3, batch=3, timeout=5.0, before=0, here=2, streams=1, port=4711, extra=b""):
    """Returns an Assignment (real/proto/run.proto) after the byte that selects it in the fuzzer.

    The fuzzer adds its scenario of two workers.
    """
    peer = text(8, text(1, b"127.0.0.1") + number(2, port))
    return (
        b"\x05" + number(1, worker) + number(6, steps) + peers * peer + double(14, timeout) + number(15, batch)
        + text(17, b"tcp") + text(18, b"tcp") + number(21, here) + number(22, before) + number(23, streams) + extra
    )


def step(worker=0, kind=0, pack=0, index=0, lane=0, of_pack=0):
    """Returns a StepResult with one replica and one span, in a frame."""
    replica = text(1, b"w0/cpu0") + number(2, 1000) + number(3, 5000) + number(7, 100) + number(8, 100)
    times = number(1, pack) + number(2, 1100) + number(3, 1200) + number(4, 1300) + number(5, 4000)
    track = number(2, 2) + number(3, worker) + text(4, b"cpu0") + number(6, lane)
    packed = lambda field, value: text(field, varint(value))
    zigzag = lambda value: value << 1 ^ value >> 63
    spans = (
        packed(2, zigzag(1000)) + packed(3, 10) + packed(4, 0) + packed(5, kind) + packed(6, zigzag(0))
        + packed(7, zigzag(of_pack)) + packed(8, zigzag(index)) + packed(9, 4)
    )
    result = text(2, replica) + text(3, times) + text(4, track) + text(5, spans)
    message = text(5, result)
    return b"\x02" + struct.pack("<I", len(message)) + message


def main():
    folder = pathlib.Path(sys.argv[1])
    seeds = {
        "assignment": assignment(),
        "assignment_benchmark": assignment(extra=text(16, number(1, 20) + number(2, 5))),
        "assignment_worker_beyond": assignment(worker=2),
        "assignment_worker_far_beyond": assignment(worker=1 << 30),
        "assignment_worker_below": assignment(worker=-1),
        "assignment_no_peers": assignment(peers=0),
        "assignment_more_peers": assignment(peers=3),
        "assignment_port": assignment(port=65536),
        "assignment_steps": assignment(steps=(1 << 31) - 1),
        "assignment_batch": assignment(batch=-16),
        "assignment_timeout": assignment(timeout=float("nan")),
        "assignment_before": assignment(before=-1),
        "assignment_streams": assignment(streams=1 << 20),
        "assignment_kind": assignment(extra=text(4, number(1, 9))),
        "assignment_warm_up": assignment(extra=text(16, number(1, 20) + number(2, -6))),
        "step_span": step(),
        "step_of_another": step(worker=1),
        "step_worker_below": step(worker=-7),
        "step_kind": step(kind=99),
        "step_lane": step(lane=-2),
        "step_index": step(index=-1),
        "step_pack": step(pack=1),
        "step_span_pack": step(of_pack=7),
    }
    for name, content in seeds.items():
        folder.joinpath(name).write_bytes(content)


if __name__ == "__main__":
    main()
