"""Measures the all-reduce of several programs, and prints tables of ratios (see tools/bench_peers.sh).

All programs reduce float32 by sum, in place, on warm buffers, with iterations back to back. The time
is the mean over the ranks of each rank's mean over the iterations. Results are compared. No process
is pinned to a core. Each pass measures all programs in random order, so that other load on the
machine affects all of them. The interval of a ratio is a bootstrap over passes of the median of
per-pass ratios.
"""

import argparse
import collections
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time

PEERS = ["Open MPI", "MPICH", "Gloo"]
Config = collections.namedtuple("Config", "side medium name")  # side: Tutti or one of PEERS; medium: tcp, shm

SCENARIO = """cluster {{ workers {{ machine: "cpu-host" count: {ranks} }} network {{ kind: ONE_SWITCH latency_us: 1 }} }}
workload {{ variable {{ name: "v" shape: 1 }} }}
strategy {{ algorithm: "{algorithm}" {more} }}
run {{ steps: 1 }}
"""


def tutti_configs(ranks):
    algorithms = ["ring", "recursive_doubling", "pscpu 1", f"pscpu {ranks}"]
    if ranks & (ranks - 1) == 0:
        algorithms.append("halving_doubling")
    return algorithms


OPEN_MPI = {"decided": 0, "linear": 1, "non-overlapping": 2, "recursive doubling": 3, "ring": 4, "segmented ring": 5,
            "Rabenseifner": 6}
MPICH = {"decided": "auto", "recursive doubling": "recursive_doubling", "Rabenseifner": "reduce_scatter_allgather"}
GLOO = {"ring": "ring", "bcube": "bcube", "chunked ring": "chunked", "halving-doubling": "halving",
        "chunked ring, sync": "chunked+sync", "halving-doubling, sync": "halving+sync",
        "halving-doubling, busy": "halving+busy"}


def peer_configs(side, medium, ranks):
    """Returns the algorithms of a program. Omits Gloo's busy ones if there are more ranks than cores."""
    names = {"Open MPI": OPEN_MPI, "MPICH": MPICH, "Gloo": GLOO if medium == "tcp" else {}}[side]
    crowded = ranks > len(os.sched_getaffinity(0))
    return [Config(side, medium, name) for name in names if not (crowded and name.endswith("busy"))]


def can(config, number):
    """Returns true if the size works. In Gloo's sync modes, large writes deadlock on full buffers."""
    return config.side != "Gloo" or "," not in config.name or number <= 256 << 10


def size(text):
    number = re.fullmatch(r"(\d+)([KMG]?)", text.upper())
    if not number:
        raise argparse.ArgumentTypeError(f"{text}: expected bytes, such as 4, 64K or 64M")
    return int(number[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[number[2]]


def short(number):
    for unit, shift in (("G", 30), ("M", 20), ("K", 10)):
        if number >= 1 << shift and number % (1 << shift) == 0:
            return f"{number >> shift} {unit}iB"
    return f"{number} B"


def iterations(number, ranks, share):
    """Returns the timed and warm-up iterations, so that a point takes about a tenth of a second."""
    most = 20000 if number <= 4 << 10 else 2000 if number <= 16 << 10 else 400 if number <= 256 << 10 else 100 if number <= 1 << 20 else \
        40 if number <= 4 << 20 else 10 if number <= 16 << 20 else 4
    timed = max(3, int(most * 2 / ranks * share))
    return timed, max(2, timed // 5)


class Runner:
    def __init__(self, arguments, ranks, folder, share, seconds):
        self.programs, self.ranks, self.folder = arguments.programs, ranks, folder
        self.share, self.seconds = share, seconds
        self.rest = arguments.rest
        self.first = ["chrt", "--rr", "1"] if arguments.real_time else []

    def run(self, config, sizes):
        """Returns the microseconds by size, without the sizes that failed."""
        if not sizes:
            return {}
        if config.side == "Tutti":
            return self.tutti(config, sizes)
        points = ["{}:{}:{}".format(n, *iterations(n, self.ranks, self.share)) for n in sizes]
        command, environment = self.gloo(config) if config.side == "Gloo" else self.mpi(config)
        out = self.call(command + [str(self.seconds)] + points, environment)
        return {int(line.split()[0]): float(line.split()[1]) for line in (out or "").splitlines()}

    def tutti(self, config, sizes):
        algorithm, _, shards = config.name.partition(" ")
        path = os.path.join(self.folder, f"{config.name.replace(' ', '_')}_{self.ranks}.textproto")
        with open(path, "w") as file:
            file.write(SCENARIO.format(ranks=self.ranks, algorithm=algorithm, more=f"shards: {shards}" if shards else ""))
        times = {}
        for number in sizes:
            timed, warm = iterations(number, self.ranks, self.share)
            out = self.call([f"{self.programs}/bin/tutti", "perf", path, "--backend", "tcp", "--transport",
                             config.medium, "-b", str(number), "-e", str(number), "-n", str(timed), "-w", str(warm),
                             "--place", "in", "--format", "json"])
            if out:
                times[number] = json.loads(out)["rows"][0]["in_place"]["time_us"]
        return times

    def gloo(self, config):
        return [f"{self.programs}/all_reduce.gloo", str(self.ranks), GLOO[config.name]], None

    def mpi(self, config):
        environment = dict(os.environ)
        if config.side == "Open MPI":
            command = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-np",
                       str(self.ranks), "--mca", "pml", "ob1", "--mca", "btl",
                       "tcp,self" if config.medium == "tcp" else "vader,self"]
            if config.medium == "tcp":
                command += ["--mca", "btl_tcp_if_include", "lo"]
            if OPEN_MPI[config.name]:
                command += ["--mca", "coll_tuned_use_dynamic_rules", "1", "--mca", "coll_tuned_allreduce_algorithm",
                            str(OPEN_MPI[config.name])]
            command.append(f"{self.programs}/all_reduce.openmpi")
        else:
            command = ["mpirun.mpich", "-bind-to", "none", "-np", str(self.ranks), f"{self.programs}/all_reduce.mpich"]
            environment["UCX_TLS"] = "tcp,self" if config.medium == "tcp" else "sm,self"
            if config.medium == "tcp":
                environment["UCX_NET_DEVICES"] = "lo"
            environment["MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM"] = MPICH[config.name]
        return command, environment

    def call(self, command, environment=None):
        time.sleep(self.rest)
        try:
            done = subprocess.run(self.first + command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  timeout=600)
        except subprocess.TimeoutExpired:
            print(f"# gave up after 600 s: {' '.join(command)}", file=sys.stderr)
            return None
        if done.returncode != 0:
            print(f"# status {done.returncode}: {' '.join(command)}\n{done.stderr[-500:]}", file=sys.stderr)
            return None
        return done.stdout


def interval(ratios, random_numbers):
    """Returns the median of the ratios, and its 95 % bootstrap interval."""
    draws = sorted(statistics.median(random_numbers.choices(ratios, k=len(ratios))) for _ in range(2000))
    return statistics.median(ratios), draws[int(0.025 * len(draws))], draws[int(0.975 * len(draws)) - 1]


def microseconds(value):
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 1000 else f"{value:.0f}"


def measure(arguments, ranks, folder, raw):
    until = time.monotonic() + 60 * arguments.minutes
    sizes = []
    number = arguments.least
    while number <= arguments.most:
        sizes.append(number)
        number *= arguments.factor
    configs = []
    for medium in arguments.media:
        configs += [Config("Tutti", medium, name) for name in tutti_configs(ranks)]
        for side in arguments.peers:
            configs += peer_configs(side, medium, ranks)

    # Find the best algorithm of each program, by size.
    tried = collections.defaultdict(list)
    chooser = Runner(arguments, ranks, folder, 0.3, 0.15)
    for _ in range(arguments.tries):
        for config in configs:
            for number, us in chooser.run(config, [n for n in sizes if can(config, n)]).items():
                tried[config, number].append(us)
    chosen = collections.defaultdict(list)  # config: sizes
    for medium in arguments.media:
        for side in ["Tutti", *arguments.peers]:
            for number in sizes:
                known = [(min(tried[c, number]), c) for c in configs
                         if c.side == side and c.medium == medium and tried[c, number]]
                if known:
                    chosen[min(known)[1]].append(number)

    times = collections.defaultdict(dict)  # (medium, side, size): {pass: us}
    name_of = {}
    runner = Runner(arguments, ranks, folder, 1, 1.0)
    passes = 0
    while passes < arguments.passes and not (passes > 2 and time.monotonic() > until):
        number = passes
        order = list(chosen.items())
        random.Random(number).shuffle(order)
        for config, its_sizes in order:
            for each, us in runner.run(config, its_sizes).items():
                times[config.medium, config.side, each][number] = us
                name_of[config.medium, config.side, each] = config.name
                raw.write(f"{ranks},{number},{config.side},{config.medium},{config.name},{each},{us}\n")
        raw.flush()
        passes += 1
        print(f"# {ranks} ranks: pass {passes} of {arguments.passes}", file=sys.stderr)
    return [table(passes, ranks, medium, sizes, times, name_of) for medium in arguments.media]


def table(passes, ranks, medium, sizes, times, name_of):
    random_numbers = random.Random(1)
    peers = [p for p in PEERS if any(times[medium, p, number] for number in sizes)]
    lines = [f"\n{ranks} ranks, {'TCP' if medium == 'tcp' else 'shared memory'}, median µs of {passes} passes\n",
             f"| size | {' | '.join(['Tutti', *peers])} | Tutti / best of them (95 %) |", "|---:" * (len(peers) + 3) + "|"]
    for number in sizes:
        cells = []
        for side in ["Tutti", *peers]:
            known = times[medium, side, number]
            cells.append(f"{microseconds(statistics.median(known.values()))} {name_of[medium, side, number]}"
                         if known else "–")
        best = min(((statistics.median(times[medium, s, number].values()), s) for s in peers
                    if times[medium, s, number]), default=(0, ""))[1]
        own, theirs = times[medium, "Tutti", number], times[medium, best, number]
        both = sorted(set(own) & set(theirs))
        ratio = "–"
        if both:
            ratio = "{:.2f} ({:.2f}–{:.2f})".format(*interval([own[p] / theirs[p] for p in both], random_numbers))
        lines.append(f"| {short(number)} | {' | '.join(cells)} | {ratio} |")
    return "\n".join(lines)


def first_line(command, pattern):
    try:
        out = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    except FileNotFoundError:
        return "?"
    found = re.search(pattern, out)
    return found[1] if found else "?"


def conditions(arguments):
    with open("/proc/sys/net/ipv4/tcp_congestion_control") as file:
        congestion = file.read().strip()
    with open("/proc/cpuinfo") as file:
        model = re.search(r"model name\s*: (.*)", file.read())
    mpich = first_line(["mpichversion"], r"MPICH Version:\s*(\S+)")
    open_mpi = first_line(["mpirun.openmpi", "--version"], r"\((?:OpenRTE|Open MPI)\) (\S+)")
    gloo = first_line(["dpkg-query", "--show", "libgloo0"], r"\s(\S+)")
    tutti = first_line([arguments.programs + "/bin/tutti", "--version"], "(.*)")
    return "; ".join([
        f"{os.cpu_count()} CPUs ({model[1] if model else '?'}), Linux {os.uname().release}",
        f"{tutti}, Open MPI {open_mpi}, MPICH {mpich}, Gloo {gloo}",
        f"congestion control: {congestion} for the others, cubic for Tutti (it asks for it; reno where that is refused)",
        "nothing pinned",
        "all programs with real-time priority" if arguments.real_time else "ordinary priority",
        f"load average at the start {os.getloadavg()[0]:.2f}",
    ])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", required=True, help="build folder")
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4, 8])
    parser.add_argument("--least", type=size, default=4)
    parser.add_argument("--most", type=size, default=64 << 20)
    parser.add_argument("--factor", type=int, default=4)
    parser.add_argument("--media", nargs="+", choices=["tcp", "shm"], default=["tcp", "shm"])
    parser.add_argument("--passes", type=int, default=9)
    parser.add_argument("--minutes", type=float, default=1e6,
                        help="for each number of ranks: after so long no further pass is begun, three excepted")
    parser.add_argument("--tries", type=int, default=2, help="passes in which the best algorithms are looked for")
    parser.add_argument("--congestion", help="run all in a network namespace of its own with this congestion control")
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=PEERS)
    parser.add_argument("--real-time", action="store_true",
                        help="run all programs before everything else on the machine (chrt --rr 1): for one that is "
                        "not quiet; needs root. MPICH never lets go of a core: with more ranks than cores leave it out then")
    parser.add_argument("--rest", type=float, default=0, help="seconds of rest between programs")
    parser.add_argument("--raw", default="/dev/null", help="CSV file for every figure")
    arguments = parser.parse_args()
    if arguments.congestion:
        # The setting applies to a new network namespace, so the machine's setting does not change.
        inner = [a for i, a in enumerate(sys.argv[1:])
                 if a != "--congestion" and sys.argv[i] != "--congestion" and not a.startswith("--congestion=")]
        script = f"ip link set lo up && echo {arguments.congestion} > /proc/sys/net/ipv4/tcp_congestion_control && "
        alone = ["unshare", "-n" if os.geteuid() == 0 else "-rn", "sh", "-c", script + 'exec "$@"', "sh"]
        os.execvp("unshare", [*alone, sys.executable, __file__, *inner])
    with open(arguments.raw, "w") as raw, tempfile.TemporaryDirectory() as folder:
        raw.write("ranks,pass,side,medium,algorithm,bytes,us\n")
        print(conditions(arguments), flush=True)
        for ranks in arguments.ranks:
            for text in measure(arguments, ranks, folder, raw):
                print(text, flush=True)


main()
