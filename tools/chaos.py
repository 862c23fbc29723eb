#!/usr/bin/env python3
"""Kills and stops processes of real runs at random times, and checks how they end.

    tools/chaos.py [--runs 1000] [--seed 1] [--tutti build/ci/bin/tutti] [--only tcp,shm,…] [--verbose]

Each run is of one kind: over tcp, over shared memory, emulated, a benchmark (perf), with workers
that join by hand, with ranks that Open MPI starts, or a sweep over ranks. At a random time, which
may be before workers join, one of the run's processes gets SIGKILL, SIGSTOP, SIGTERM or SIGINT. The
run passes if

  - every process that was not stopped ends within the timeout plus some seconds (none hangs),
  - no process of the run is left then (none is orphaned),
  - the coordinator, if it is alive, names the worker that was killed or stopped,
  - no file is left in the run's temporary folder, nor in /dev/shm, except NAME.part of a killed
    coordinator.

The seed determines everything except the timing of the scheduler. Exit status 1 if a run has
failed; the output states how to repeat each failed run. A run takes two to three seconds, since a
stopped worker is detected after --timeout-seconds 3.
"""

import argparse
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

SCENARIO = """
cluster { workers { machine: "host" count: %d } network { kind: ONE_SWITCH latency_us: 1 }
  machine { name: "host" device { name: "cpu0" kind: CPU memory_gb_per_s: 50 }
    nic { name: "nic0" bandwidth_gb_per_s: 10 }
    link { from: "cpu0" to: "nic0" kind: PCIE bandwidth_gb_per_s: 10 latency_us: 0 } } }
workload { variable { name: "a" shape: 100003 } variable { name: "b" shape: 7 } forward_ms: 20 backward_ms: 30 }
strategy { algorithm: "ring" } run { steps: 40 }
"""
TIMEOUT = 3
GRACE = 25  # seconds after the timeout: joining takes up to ten, and machines are busy
WORKERS = 3


class Run:
    """The processes of one run. A variable in their environment identifies them."""

    def __init__(self, tutti, number):
        self.tutti = tutti
        self.mark = f"{os.getpid()}-{number}"
        self.folder = tempfile.TemporaryDirectory(prefix="tutti-chaos-")
        self.scenario = os.path.join(self.folder.name, "s.textproto")
        pathlib.Path(self.scenario).write_text(SCENARIO % WORKERS)
        self.started = []  # (role, process); the first is the coordinator

    def start(self, role, *words, **variables):
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_", "PMI", "SLURM_", "TUTTI_"))}
        environment.update(variables, TUTTI_CHAOS=self.mark, TMPDIR=self.folder.name)
        err = open(os.path.join(self.folder.name, f"{role}.err"), "w+b")
        out = open(os.path.join(self.folder.name, f"{role}.out"), "w+b")
        process = subprocess.Popen([self.tutti, *words], env=environment, stdout=out, stderr=err, cwd=self.folder.name)
        process.err_file = err
        self.started.append((role, process))
        return process

    def members(self):
        """Returns the ids of the run's processes, including their descendants."""
        found = {}
        needle = f"TUTTI_CHAOS={self.mark}".encode() + b"\0"
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                if needle not in (entry / "environ").read_bytes() + b"\0":
                    continue
                if (entry / "stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                    continue
                found[int(entry.name)] = (entry / "cmdline").read_bytes().split(b"\0")
            except (OSError, IndexError):
                pass
        return found

    def err(self, process):
        process.err_file.seek(0)
        return process.err_file.read().decode(errors="replace")


def worker_of(words):
    """Returns the number in a worker's command line; None if it has none."""
    words = [w.decode(errors="replace") for w in words]
    if "worker" in words and "--worker" in words:
        return int(words[words.index("--worker") + 1])
    return None


def ranks(run, count, *words, **more):
    for rank in reversed(range(count)):
        run.start(
            f"rank{rank}", *words, OMPI_COMM_WORLD_RANK=str(rank), OMPI_COMM_WORLD_SIZE=str(count),
            OMPI_COMM_WORLD_LOCAL_SIZE=str(count), OMPI_COMM_WORLD_LOCAL_RANK=str(rank), PMIX_NAMESPACE="chaos", **more)
    run.started.reverse()


def begin(run, kind, chance):
    limit = ["--timeout-seconds", str(TIMEOUT)]
    timeline = ["--timeline", os.path.join(run.folder.name, "t.tutti")]
    if kind in ("tcp", "shm"):
        run.start("coordinator", "run", run.scenario, "--transport", kind, *limit, *timeline)
    elif kind == "emulated":
        run.start("coordinator", "run", run.scenario, "--emulate", "--time-scale", "20", *limit)
    elif kind == "perf":
        run.start("coordinator", "perf", run.scenario, "--backend", "tcp", "-b", "1K", "-e", "4M", *limit)
    elif kind == "join":
        coordinator = run.start("coordinator", "run", run.scenario, "--listen", "127.0.0.1:0", "--wait-seconds", "8",
                                *limit, *timeline)
        until = time.monotonic() + 20
        while time.monotonic() < until and coordinator.poll() is None:
            at = re.search(r"waiting for workers at (\S+);", run.err(coordinator))
            if at:
                break
            time.sleep(0.01)
        for worker in chance.sample(range(WORKERS), WORKERS):
            run.start(f"worker{worker}", "worker", "--join", at.group(1), "--worker", str(worker), "--wait-seconds", "8")
    elif kind == "ranks":
        ranks(run, WORKERS, "run", run.scenario, "--wait-seconds", "8", *limit)
    elif kind == "sweep":
        ranks(run, 3, "sweep", run.scenario, "--over", "strategy.launch_us=1..400+1", "--over",
              "strategy.shards=1,2,4", "--wait-seconds", "8", "-o", os.path.join(run.folder.name, "a.sweep"), *limit)


def send_random_signal(run, kind, chance):
    """Waits for a random time, and then sends a signal to one process of the run.

    Returns (signal, process id, worker); None if the run had already ended.
    """
    time.sleep(chance.random() ** 2 * 1.2)
    members = run.members()
    if not members:
        return None
    victim = chance.choice(sorted(members))
    number = chance.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM, signal.SIGINT])
    try:
        os.kill(victim, number)
    except ProcessLookupError:
        return None
    return number, victim, worker_of(members[victim])


def errors_of_end(run, kind, sent, began):
    """Waits for the end of the run. Returns what was wrong; empty if the run passed."""
    wrong = []
    number, victim, worker = sent if sent else (None, None, None)
    first = run.started[0][1]
    stopped_first = number == signal.SIGSTOP and victim == first.pid
    until = began + TIMEOUT + GRACE
    while time.monotonic() < until:
        alive = [p for p in run.members() if not (number == signal.SIGSTOP and p == victim)]
        # Processes that wait for a stopped coordinator give up; its own children wait for it.
        if stopped_first:
            alive = [p for p in alive if p not in children_of(victim)]
        if not alive:
            break
        time.sleep(0.02)
    else:
        wrong.append(f"still running after {TIMEOUT + GRACE} s: {[b' '.join(w)[:90] for w in run.members().values()]}")
    if number == signal.SIGSTOP:
        try:
            os.kill(victim, signal.SIGKILL)
        except ProcessLookupError:
            pass
        time.sleep(0.3)
        wrong += [f"left behind: {p}" for p in run.members()]
    if sent and worker is not None and number in (signal.SIGKILL, signal.SIGSTOP) and victim != first.pid:
        status, messages = first.wait(), run.err(first)
        if status != 0 and f"worker {worker}" not in messages:
            wrong.append(f"the coordinator does not name worker {worker}: {messages.strip()[-300:]}")
    for role, process in run.started:
        if "should never happen" in run.err(process) or "Assertion" in run.err(process):
            wrong.append(f"{role}: {run.err(process).strip()[-200:]}")
        if process.poll() is not None and process.returncode < 0 and process.pid != victim:
            wrong.append(f"{role} ended by signal {-process.returncode}")
    ours = ("s.textproto", ".err", ".out", "t.tutti", "a.sweep", "a.sweep-wal", "a.sweep-shm")
    killed_first = number in (signal.SIGKILL, signal.SIGSTOP) and victim == first.pid
    for name in os.listdir(run.folder.name):
        # A killed process cannot remove its files; the next run replaces its rendezvous file.
        if not name.endswith(ours) and not killed_first:
            wrong.append(f"a file is left in the temporary folder: {name}")
    return wrong


def children_of(parent):
    try:
        return {int(p) for p in pathlib.Path(f"/proc/{parent}/task/{parent}/children").read_text().split()}
    except OSError:
        return set()


def shared_memory():
    return {name for name in os.listdir("/dev/shm") if "tutti" in name}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first run; to repeat a failed run, pass its number")
    parser.add_argument("--tutti", default="build/ci/bin/tutti")
    parser.add_argument("--only", default="tcp,shm,emulated,perf,join,ranks,sweep")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    if not os.access(options.tutti, os.X_OK):
        parser.error(f"{options.tutti} is no program; build it, or name another one with --tutti")
    kinds = options.only.split(",")
    tutti = os.path.abspath(options.tutti)
    failed, counts = 0, {}
    for number in range(options.first, options.first + options.runs):
        chance = random.Random(options.seed * 1_000_003 + number)
        kind = kinds[number % len(kinds)]
        before = shared_memory()
        run = Run(tutti, number)
        began = time.monotonic()
        try:
            begin(run, kind, chance)
            sent = send_random_signal(run, kind, chance)
            wrong = errors_of_end(run, kind, sent, time.monotonic())
        finally:
            for process in run.members():
                os.kill(process, signal.SIGKILL)
            for _, process in run.started:
                process.wait()
        wrong += [f"shared memory is left: {name}" for name in shared_memory() - before]
        what = "no signal" if not sent else f"{signal.Signals(sent[0]).name} to worker {sent[2]}"
        counts[(kind, what.split(" ")[0])] = counts.get((kind, what.split(" ")[0]), 0) + 1
        if options.verbose or wrong:
            print(f"run {number} ({kind}, {what}, {time.monotonic() - began:.1f} s): {'; '.join(wrong) or 'passed'}")
        if wrong:
            failed += 1
            print(f"  to repeat it: tools/chaos.py --seed {options.seed} --first {number} --runs 1 --only {options.only}")
        sys.stdout.flush()
    print(f"{options.runs} runs, {failed} failed; " + ", ".join(f"{k} {s}: {n}" for (k, s), n in sorted(counts.items())))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
