#!/usr/bin/env python3
"""Measures what authentication codes and TLS cost a real run on this machine.

    tools/security_cost.py [--tutti build/release/bin/tutti] [--passes 5] [--workers 2] [--most 16M]

Measures an all-reduce by a ring over TCP on loopback (`tutti perf --backend tcp`) without options,
with --integrity, with --tls secret, with --tls and certificates (if the program openssl is
installed), and with --integrity and --tls together. The measurements of each pass are interleaved,
so that other programs on the machine disturb all options equally. Prints a Markdown table of the
medians. Then measures how long one guess of a memorable secret takes (scrypt with the parameters of
real/wire/digest.cpp).
"""

import argparse
import hashlib
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

SCENARIO = """
cluster {{ workers {{ machine: "host" count: {workers} }} network {{ kind: ONE_SWITCH latency_us: 1 }}
  machine {{ name: "host" device {{ name: "cpu0" kind: CPU memory_gb_per_s: 50 }}
    nic {{ name: "nic0" bandwidth_gb_per_s: 10 }}
    link {{ from: "cpu0" to: "nic0" kind: PCIE bandwidth_gb_per_s: 10 latency_us: 0 }} }} }}
workload {{ variable {{ name: "a" shape: 1000 }} }}
strategy {{ algorithm: "ring" }}
"""


def certificates(folder):
    """Writes certificate.pem, key.pem and ca.pem. Returns False if there is no openssl."""
    if not shutil.which("openssl"):
        return False
    new_key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    for words in (
        ["req", "-x509", *new_key, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=authority"],
        ["req", *new_key, "-keyout", "key.pem", "-out", "request.pem", "-subj", "/CN=machine"],
        ["x509", "-req", "-in", "request.pem", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
         "-out", "certificate.pem", "-days", "2"],
    ):
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)
    os.chmod(os.path.join(folder, "key.pem"), 0o600)
    return True


def measure(tutti, scenario, options, most):
    """Returns the time in microseconds by size in bytes."""
    words = [tutti, "perf", scenario, "--backend", "tcp", "--place", "out", "-b", "4K", "-e", most, "-f", "16",
             "-n", "20", "-w", "3", "--format", "json", *options]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)} failed: {done.stderr}")
    return {row["bytes"]: row["out_of_place"]["time_us"] for row in json.loads(done.stdout)["rows"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tutti", default="build/release/bin/tutti")
    parser.add_argument("--passes", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--most", default="16M")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tutti-security-") as folder:
        scenario = os.path.join(folder, "s.textproto")
        pathlib.Path(scenario).write_text(SCENARIO.format(workers=options.workers))
        kinds = {"no protection": [], "--integrity": ["--integrity"], "--tls secret": ["--tls", "secret"]}
        if certificates(folder):
            kinds["--tls FOLDER"] = ["--tls", folder]
        kinds["--integrity and --tls secret"] = ["--tls", "secret", "--integrity"]
        times = {kind: {} for kind in kinds}
        for _ in range(options.passes):
            for kind, words in kinds.items():
                for size, us in measure(options.tutti, scenario, words, options.most).items():
                    times[kind].setdefault(size, []).append(us)
    print("| size | " + " | ".join(kinds) + " |")
    print("|---|" + "---|" * len(kinds))
    for size in times["no protection"]:
        cells = []
        for kind in kinds:
            us = statistics.median(times[kind][size])
            ratio = us / statistics.median(times["no protection"][size])
            cells.append(f"{us:,.0f} µs" + ("" if kind == "no protection" else f" (× {ratio:.2f})"))
        print(f"| {size:,} B | " + " | ".join(cells) + " |")
    guesses = []
    for i in range(5):
        began = time.perf_counter()
        hashlib.scrypt(b"guess %d" % i, salt=b"tutti run", n=2**15, r=8, p=1, maxmem=2**26, dklen=32)
        guesses.append(time.perf_counter() - began)
    print(f"\nOne guess of a memorable secret: {1000 * statistics.median(guesses):.0f} ms and 32 MiB.")


if __name__ == "__main__":
    main()
