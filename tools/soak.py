#!/usr/bin/env python3
"""Runs a scenario for a long time, and checks that the memory of its processes does not grow.

    tools/soak.py [--minutes 30] [--workers 8] [--transport tcp,shm] [--tutti build/release/bin/tutti]

Starts `tutti run` with many short training steps for each transport, one after the other. Reads the
resident memory of the coordinator and of worker 0 every second (VmRSS in /proc/ID/status). Fits a
line to the last third of the samples by least squares. Before that, buffers and caches fill, and
the coordinator keeps the records of the first 10,000 training steps. Prints the memory after a sixth, a
third, two thirds and all of the time, the slope per minute and per training step, and the number of
training steps. Exit status 1 if the memory of a process grows by more than --most-kb-per-minute, if
the machine was too slow for 15,000 training steps, or if the run fails.
"""

import argparse
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

# The coordinator keeps the records of the first 10,000 steps, so in a run with fewer than
# 15,000 steps, memory also grows in the last third.
MIN_STEPS = 15_000

SCENARIO = """
cluster {{ workers {{ machine: "host" count: {workers} }} network {{ kind: ONE_SWITCH latency_us: 1 }}
  machine {{ name: "host" device {{ name: "cpu0" kind: CPU memory_gb_per_s: 50 }}
    nic {{ name: "nic0" bandwidth_gb_per_s: 10 }}
    link {{ from: "cpu0" to: "nic0" kind: PCIE bandwidth_gb_per_s: 10 latency_us: 0 }} }} }}
workload {{ variable {{ name: "a" shape: 20011 }} variable {{ name: "b" shape: 7 }} forward_ms: {compute} backward_ms: {compute} }}
strategy {{ algorithm: "ring" }} run {{ steps: {steps} }}
"""


def memory_kb(process):
    """Returns the resident memory of a process in kB; None if it has ended."""
    try:
        text = pathlib.Path(f"/proc/{process}/status").read_text()
    except OSError:
        return None
    found = re.search(r"VmRSS:\s+(\d+) kB", text)
    return int(found.group(1)) if found else None


def first_worker(coordinator):
    """Returns the id of worker 0; None if it is not running."""
    try:
        children = pathlib.Path(f"/proc/{coordinator}/task/{coordinator}/children").read_text().split()
    except OSError:
        return None
    for child in children:
        try:
            words = pathlib.Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"--worker" in words and words[words.index(b"--worker") + 1] == b"0":
            return int(child)
    return None


def slope(samples):
    """Returns the slope of a line through (time, value) pairs by least squares."""
    if len(samples) < 3:
        return 0.0
    mean_t = sum(t for t, _ in samples) / len(samples)
    mean_v = sum(v for _, v in samples) / len(samples)
    spread = sum((t - mean_t) ** 2 for t, _ in samples)
    return sum((t - mean_t) * (v - mean_v) for t, v in samples) / spread


def soak(options, transport, extra):
    """Runs one transport. Returns True if the memory did not grow."""
    with tempfile.TemporaryDirectory(prefix="tutti-soak-") as folder:
        scenario = os.path.join(folder, "s.textproto")
        pathlib.Path(scenario).write_text(SCENARIO.format(workers=options.workers, steps=options.steps,
                                                             compute=options.compute_ms / 2))
        timeline = os.path.join(folder, "t.tutti")
        words = [options.tutti, "run", scenario, "--transport", transport, "--record", "packs", "--timeline", timeline,
                 *extra]
        with open(os.path.join(folder, "out"), "w+") as out, open(os.path.join(folder, "err"), "w+") as err:
            run = subprocess.Popen(words, stdout=out, stderr=err)
            began = time.monotonic()
            samples = {"coordinator": [], "worker 0": []}
            worker = None
            while run.poll() is None and time.monotonic() - began < 60 * options.minutes:
                time.sleep(1)
                worker = worker or first_worker(run.pid)
                for name, process in (("coordinator", run.pid), ("worker 0", worker)):
                    kb = memory_kb(process) if process else None
                    if kb:
                        samples[name].append((time.monotonic() - began, kb))
            seconds = time.monotonic() - began
            ended_early = run.poll() is not None and run.returncode != 0
            if run.poll() is None:
                run.send_signal(signal.SIGTERM)  # as Ctrl-C, but never ignored
            run.wait()
            out.seek(0)
            err.seek(0)
            text = out.read() + err.read()
        if ended_early:
            print(f"{transport}: the run failed: {text[-500:]}")
            return False
        steps = re.search(r"after (\d+) of", text)
        flat = True
        for name, all_samples in samples.items():
            if not all_samples:
                print(f"{transport}, {name}: no sample; the run was too short")
                return False
            per_second = slope(all_samples[len(all_samples) * 2 // 3:])
            count = int(steps.group(1)) if steps else options.steps
            flat = flat and 60 * per_second <= options.most_kb_per_minute
            marks = [all_samples[min(len(all_samples) - 1, len(all_samples) * part // 6)] for part in (1, 2, 4, 6)]
            print(f"{transport}, {name}: " + ", ".join(f"{kb} kB after {t / 60:.1f} min" for t, kb in marks) +
                  f"; slope of the last third {60 * per_second:+.1f} kB per minute, "
                  f"{1024 * per_second * seconds / count:+.1f} bytes per training step; {count} training steps",
                  flush=True)
        if count < MIN_STEPS:
            print(f"{transport}: the run had only {count} training steps; run it for longer, or with a shorter --compute-ms")
            return False
        return flat


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--transport", default="tcp,shm")
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--tutti", default="build/release/bin/tutti")
    # With these times, a run of 30 minutes has fewer than 100,000 steps, the maximum of a scenario.
    parser.add_argument("--compute-ms", type=float, default=18, help="computation in each training step")
    parser.add_argument("--most-kb-per-minute", type=float, default=20)
    parser.add_argument("options", nargs="*", help="further options of tutti run, after --")
    options = parser.parse_args()
    if not os.access(options.tutti, os.X_OK):
        parser.error(f"{options.tutti} is no program; build it, or name another one with --tutti")
    flat = [soak(options, transport, options.options) for transport in options.transport.split(",")]
    sys.exit(0 if all(flat) else 1)


if __name__ == "__main__":
    main()
