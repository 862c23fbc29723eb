#!/usr/bin/env python3
"""Writes seeds for wire_fuzz.cpp: valid messages from peers to rank 0, over every transport.

    tests/fuzz/wire_seeds.py FOLDER
"""

import pathlib
import struct
import sys

SLOT_LANE = 1 << 24  # real/emulate/network.cpp


def header(kind, pack, channel, length=0, total=0, offset=0, number=0):
    """Returns a header (real/transport/wire.h) of step 0. channel: from rank, from lane, to rank, to lane."""
    return struct.pack("<IIIiiiiIqq", kind | number << 8, 0, pack, *channel, length, total, offset)


def message(pack, channel, total, number, most, emulated):
    """Returns a message in pieces of at most `most` bytes. If `emulated`, a stamp precedes it."""
    ahead = 16 if emulated else 0
    pieces = []
    if emulated:
        stamp = struct.pack("<qq", 1000 * number, 1000 * number + 500)
        pieces.append(header(1, pack, channel, 16, total + 16, 0, number) + stamp)
    for offset in range(0, total, most):
        length = min(most, total - offset)
        pieces.append(header(1, pack, channel, length, total + ahead, offset + ahead, number) + bytes(length))
    return b"".join(pieces)


def slot(pack, channel, at_ns, emulated):
    """Returns the message that reports a freed slot of `channel` to its sender."""
    if not emulated:
        return header(2, pack, channel)
    back = (channel[2], channel[3] + SLOT_LANE, channel[0], channel[1])
    return header(1, pack, back, 8, 8) + struct.pack("<q", at_ns)


def ring(most, emulated):
    """Returns the messages to rank 0 in a ring over 300 elements with three loops.

    Rank 0 receives from rank 2 and sends to rank 1.
    """
    said = b""
    for loop, elements in enumerate((40, 40, 20)):
        for step in range(4):
            number = 5 * loop + step
            said += message(0, (2, 0, 0, 0), 4 * elements, number, most, emulated)
            said += slot(0, (0, 0, 1, 0), 1000 * number, emulated)
    return said


def shuffle(emulated):
    """Returns the messages to rank 0 in a shuffle: the pieces that it gathers, and those of rank 1."""
    channels = [(1, 1, 0, 2), (2, 0, 0, 2), (2, 1, 0, 2), (1, 3, 0, 1), (1, 4, 0, 1), (1, 5, 0, 1)]
    return b"".join(message(1, channel, 600, 0, 4096, emulated) for channel in channels)


def strange(emulated):
    """Returns invalid messages: unknown ranks, lanes and packs, and slots and messages of other ranks."""
    most = 1 << 30
    channels = [(99, 0, 0, 0), (-1, 0, 0, 0), (2, 0, 99, 0), (2, 0, -1, 0), (2, most, 0, 0), (2, 0, 0, most),
                (2, -1, 0, 0), (2, 0, 0, -1), (0, 0, 2, 0), (most, most, most, most)]
    said = b""
    for channel in channels:
        said += message(0, channel, 40, 0, 4096, emulated) + slot(0, channel, 1000, emulated)
    for pack in (2, most):
        said += message(pack, (2, 0, 0, 0), 40, 0, 4096, emulated) + slot(pack, (0, 0, 1, 0), 1000, emulated)
    return said


def main():
    folder = pathlib.Path(sys.argv[1])
    ways = {"placed": b"\0", "whole": b"\1", "socket": b"\2\7", "emulated": b"\3"}
    for way, choice in ways.items():
        emulated = way == "emulated"
        folder.joinpath(f"{way}_ring").write_bytes(choice + ring(4096, emulated))
        folder.joinpath(f"{way}_pieces").write_bytes(choice + ring(80, emulated))
        folder.joinpath(f"{way}_shuffle").write_bytes(choice + shuffle(emulated))
        folder.joinpath(f"{way}_strange").write_bytes(choice + strange(emulated))


main()
