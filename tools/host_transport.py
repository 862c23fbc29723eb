#!/usr/bin/env python3
"""Compares predictions for TCP networks, with and without host overhead, with measurements.

    tools/host_transport.py          # prints the tables in Markdown
    tools/host_transport.py --write docs/validation/host-transport.md    # replaces the tables there
    tools/host_transport.py --fit    # fits DDP steps, leaving out one model at a time
    tools/host_transport.py --calibrate  # fits DDP steps on two hosts, and predicts all others

Measurements: tests/reference/published/servers_2017.json (parameter servers and Horovod),
tests/reference/published/published.json (distributed_replicated on EC2, HKBU's packings),
tests/reference/published/pollux_ddp.csv (training steps of PyTorch DDP on EC2 g4dn.12xlarge).
"""

import argparse
import concurrent.futures
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import published  # noqa: E402
from page_section import replace_section  # noqa: E402

ROOT = published.ROOT
OFF = "host_transport { library: OFF }"


def simulate(text, program):
    with tempfile.NamedTemporaryFile("w", suffix=".textproto", delete=False) as file:
        file.write(text)
    try:
        done = subprocess.run([program, "simulate", file.name, "--format", "json"], capture_output=True, text=True)
    finally:
        os.unlink(file.name)
    if done.returncode != 0:
        raise SystemExit(f"host_transport.py: {done.stderr.strip()}\n{text}")
    return json.loads(done.stdout)


class Row:
    """A measured throughput, and the scenario that predicts it, without its host transport."""

    def __init__(self, group, label, measured, samples, text, hosts, fitted=False, rival=None):
        self.group, self.label, self.measured, self.samples = group, label, measured, samples
        self.text, self.hosts, self.fitted, self.rival = text, hosts, fitted, rival
        self.without = self.with_hosts = None

    def predict(self, program):
        speeds = [self.samples / (simulate(self.text.replace("HOSTS", hosts), program)["step_time_us"] / 1e6)
                  for hosts in (OFF, self.hosts)]
        self.without, self.with_hosts = speeds


# --- servers and Horovod ---

# TensorFlow 1.x has one polling thread. Published rates are 0.29 GB/s (local) and 0.5 GB/s (between
# hosts) (tensorflow/tensorflow issue 6116); 0.4 GB/s fits the table of 16 GPUs. With tensors on
# GPUs, the rate is 0.26 GB/s (pull request 11261: 0.26 with it, 0.20 before). Versions up to 1.3
# have a cost that grows with the square of the size (issue 6116, grpc/grpc issue 8975). The tables of
# 64 GPUs and of EC2 are left out of the fit.
TF_1 = published.TF_1
TF_1_GPU = "host_transport { threads: 1 thread_gb_per_s: 0.26 receive_us_per_mb2: 8.5 }"
MODELS = dict(published.TF_MODELS, **{"ResNet-101": "resnet101_tf_cnn_benchmarks"})


def one_gpu(model, batch, throughput, update=False):
    ms = 1e3 * batch / throughput
    return (f'workload {{ model: "{MODELS[model]}" batch: {batch} forward_ms: {ms / 3:.6f} backward_ms: {2 * ms / 3:.6f} '
            f'{"update_ms: 0 " if update else ""}}}\n')


def servers_2017():
    """Yields rows for parameter servers and Horovod. Assumes one server per host.

    Each of the four GPUs of a host reads the servers' variables.
    """
    cases = json.loads((ROOT / "tests/reference/published/servers_2017.json").read_text())["cases"]
    for case in cases:
        gpus = case["gpus"]
        hosts = gpus // 4
        cluster = (f'cluster {{ workers {{ machine: "pcie8-v100" count: {hosts} replicas: 4 }} '
                   f'network {{ kind: ONE_SWITCH link: "ethernet-25" HOSTS }} }}\n')
        ways = {"servers": (f"tensorflow {{ tf_cnn_benchmarks {{ servers_on_workers: {hosts} }} }}", TF_1_GPU),
                "servers, variables on CPU":
                    (f"tensorflow {{ tf_cnn_benchmarks {{ servers_on_workers: {hosts} local_parameter_device: CPU }} }}", TF_1),
                "Horovod, MPI": ('algorithm: "ring" horovod { cycle_time_ms: 5 fusion_threshold: 67108864 }', ""),
                "Horovod, NCCL": ('algorithm: "nccl" horovod { cycle_time_ms: 5 fusion_threshold: 67108864 }', "")}
        for row in case["rows"]:
            for way, (strategy, host) in ways.items():
                measured = row[case["columns"].index(way)]
                horovod = way.startswith("Horovod")
                yield Row(way, f"{row[0]}, {gpus} GPUs", measured, 64 * gpus,
                          cluster + one_gpu(row[0], 64, row[1], horovod) +
                          f"strategy {{ {strategy} reduction: MEAN }}\nrun {{ steps: 3 }}\n", host, rival=(case["id"], row[0]))


def distributed_replicated():
    cases = json.loads((ROOT / "tests/reference/published/published.json").read_text())["cases"]
    case = next(c for c in cases if c["id"] == "tf_bench_ec2_k80_dist_synthetic")
    for point in published.tf_bench_distributed(case):
        text = point.scenario(point.strategies[0]).replace(TF_1, "HOSTS")
        yield Row("distributed_replicated on EC2", f"{point.label.split(',')[0]}, {point.gpus} GPUs", point.measured,
                  point.batch * point.gpus, text, TF_1)


def hkbu_nccl():
    """Yields rows for NCCL over sockets on 10 and 100 GbE, with one all-reduce after the backward pass."""
    cases = json.loads((ROOT / "tests/reference/published/published.json").read_text())["cases"]
    case = next(c for c in cases if c["id"] == "hkbu_ddl_benchmarks_2020")
    for point in published.hkbu(case):
        if "BSP-A2A" not in point.label or "GbE" not in point.label or point.gpus == 4:
            continue
        text = point.scenario(point.strategies[0])
        for link in ("ethernet-10", "ethernet-100"):
            text = text.replace(f'link: "{link}" ', f'link: "{link}" HOSTS')
        yield Row("NCCL over sockets (HKBU)", f"{point.label.rsplit(',', 1)[0]}, {point.gpus} GPUs", point.measured,
                  point.batch * point.gpus, text, "")


# --- DDP over TCP ---

def resnet18():
    """Returns ResNet-18 for CIFAR-10 images (kuangliu/pytorch-cifar, models/resnet.py)."""
    layers = [("conv1", [64, 3, 3, 3])]
    width = 64
    for stage, channels in enumerate((64, 128, 256, 512), 1):
        for block in range(2):
            name = f"layer{stage}.{block}"
            layers += [(f"{name}.conv1", [channels, width, 3, 3]), (f"{name}.bn1", [2 * channels]),
                       (f"{name}.conv2", [channels, channels, 3, 3]), (f"{name}.bn2", [2 * channels])]
            if width != channels:
                layers.append((f"{name}.shortcut", [channels, width, 1, 1]))
            width = channels
    layers.append(("linear", [10, 512]))
    return " ".join(f'variable {{ name: "{name}" shape: {shape} }}' for name, shape in layers)


DDP_MODELS = {"cifar10": lambda batch: f"{resnet18()} ", "imagenet": lambda batch: f'model: "resnet50_torchvision" batch: {batch} ',
              "bert": lambda batch: f'model: "bert_base_hf" batch: {batch} '}
PODS = "host_transport { overlay: IPIP pod_per_gpu: true FIGURES }"


class Step:
    def __init__(self, row):
        self.model, self.hosts, self.gpus = row["model"], int(row["hosts"]), int(row["gpus"])
        self.batch = int(row["batch_per_gpu"])
        self.compute, self.step, self.exposed = (float(row[c]) for c in ("compute_ms", "step_ms", "exposed_ms"))
        self.predicted = None

    def text(self, hosts):
        cap = "connection_gb_per_s: 1.25 " if hosts != OFF else ""
        return (f'cluster {{ workers {{ machine: "ec2-g4dn-12xlarge" count: {self.hosts} replicas: {self.gpus // self.hosts} }} '
                f'network {{ kind: ONE_SWITCH link: "ena" {cap}{hosts} }} }}\n'
                f"workload {{ {DDP_MODELS[self.model](self.batch)}forward_ms: {self.compute / 3:.4f} "
                f"backward_ms: {2 * self.compute / 3:.4f} update_ms: 0 }}\n"
                f'strategy {{ algorithm: "nccl" pytorch_ddp {{ }} nccl {{ version: "2.7.8" }} reduction: MEAN }}\n'
                f"run {{ steps: 2 interference: OFF }}\n")

    def predict(self, hosts, program):
        done = simulate(self.text(hosts), program)
        step = done["step_time_us"] / 1e3
        return step, max(0.0, step - self.compute)


def ddp_steps():
    with open(ROOT / "tests/reference/published/pollux_ddp.csv") as file:
        return [Step(row) for row in csv.DictReader(file) if not row["model"].startswith("#")]


def spread(values):
    ordered = sorted(values)
    return published.median(ordered), ordered[min(len(ordered) - 1, int(0.9 * len(ordered)))]


def ddp_errors(steps, predictions):
    """Returns the median errors of the step time, and of exposed communication.

    Exposed communication counts only for steps in which it is at least a tenth of the step time.
    """
    step = [abs(p[0] / s.step - 1) for s, p in zip(steps, predictions)]
    exposed = [abs(p[1] / s.exposed - 1) for s, p in zip(steps, predictions) if s.exposed > 0.1 * s.step]
    return spread(step), spread(exposed)


def pool(function, items, jobs):
    with concurrent.futures.ThreadPoolExecutor(jobs) as threads:
        return list(threads.map(function, items))


def fit(options):
    """For each model, prints the rate that fits the two other models best, and the errors of this model."""
    steps = ddp_steps()
    rates = [0.40, 0.45, 0.50, 0.55, 0.60, 0.65, 0.70, 0.80, 0.90]
    table = {}
    for rate in rates:
        hosts = PODS.replace("FIGURES", f"overlay_factor: {2.0 / rate}")
        table[rate] = pool(lambda s: s.predict(hosts, options.tutti), steps, options.jobs)
    for out in ("bert", "cifar10", "imagenet"):
        def error(rate, inside):
            chosen = [(s, p) for s, p in zip(steps, table[rate]) if (s.model == out) != inside]
            return ddp_errors([c[0] for c in chosen], [c[1] for c in chosen])
        best = min(rates, key=lambda r: error(r, True)[1][0])
        (step, _), (exposed, _) = error(best, False)
        print(f"without {out}: {best} GB/s; {out}: step {100 * step:.1f} %, exposed {100 * exposed:.1f} %")
    for rate in rates:
        (step, _), (exposed, _) = ddp_errors(steps, table[rate])
        signed = published.median([p[1] / s.exposed - 1 for s, p in zip(steps, table[rate]) if s.exposed > 0.1 * s.step])
        print(f"{rate}: step {100 * step:.1f} %, exposed {100 * exposed:.1f} % ({100 * signed:+.0f} %)")
    return steps, table


RATES = [0.40, 0.45, 0.50, 0.55, 0.60, 0.65, 0.70, 0.80, 0.90]  # GB/s of a thread
MESSAGES = [25, 50, 100, 200, 400]  # us of a thread for each message


def calibrate(options):
    """Fits a thread's rate and its time per message to the steps on two hosts; prints all errors.

    The steps of all models on two hosts determine both figures together, as a user would calibrate
    one cluster. The fit minimizes the mean of the two median errors. All steps on more hosts, and
    models without steps on two hosts, are then predicted.
    """
    steps = ddp_steps()
    given = [s for s in steps if s.hosts <= 2]
    others = [s for s in steps if s.hosts > 2]

    def hosts(rate, message):
        return PODS.replace("FIGURES", f"overlay_factor: {2.0 / rate} send_us_per_message: {message} "
                                       f"receive_us_per_message: {message}")

    def error(figures):
        (step, _), (exposed, _) = ddp_errors(given, pool(lambda s: s.predict(hosts(*figures), options.tutti), given, options.jobs))
        return step + exposed
    rate = min(RATES, key=lambda r: error((r, MESSAGES[0])))
    message = min(MESSAGES, key=lambda m: error((rate, m)))
    rate = min([r for r in RATES if abs(r - rate) < 0.11], key=lambda r: error((r, message)))
    print(f"{len(given)} steps on up to two hosts: {rate} GB/s, {message} us per message", flush=True)
    print("| DDP over TCP | steps | step time: median / 90th | exposed communication: median / 90th |\n|---|---:|---:|---:|")
    predictions = dict(zip(map(id, others), pool(lambda s: s.predict(hosts(rate, message), options.tutti), others, options.jobs)))
    for name in ("bert", "cifar10", "imagenet", "all"):
        of = [s for s in others if name in (s.model, "all")]
        (step, step90), (exposed, exposed90) = ddp_errors(of, [predictions[id(s)] for s in of])
        print(f"| {name} | {len(of)} | {100 * step:.1f} / {100 * step90:.1f} % | {100 * exposed:.1f} / {100 * exposed90:.1f} % |")


# --- output ---

def write_tables(options, out):
    rows = list(servers_2017()) + list(distributed_replicated()) + list(hkbu_nccl())
    pool(lambda r: r.predict(options.tutti), rows, options.jobs)
    print("`tools/host_transport.py` writes this section.\n", file=out)
    print("| group of rows | rows | median error without host model | median error with host model | largest error with host model |\n|---|---:|---:|---:|---:|", file=out)
    groups = dict.fromkeys(r.group for r in rows)
    everything_with_servers = [r for r in rows if r.group.startswith("servers") or r.group.startswith("distributed")]
    for name, of in [(g, [r for r in rows if r.group == g]) for g in groups] + [("**all with servers**", everything_with_servers),
                                                                             ("**with servers, used in no fit**",
                                                                              [r for r in everything_with_servers if "16 GPUs" not in r.label or
                                                                               r.group.startswith("distributed")]),
                                                                             ("**Horovod, MPI, 64 GPUs (used in no fit)**",
                                                                              [r for r in rows if r.group == "Horovod, MPI" and
                                                                               "64 GPUs" in r.label])]:
        before = published.median([abs(r.without / r.measured - 1) for r in of])
        after = published.median([abs(r.with_hosts / r.measured - 1) for r in of])
        worst = max((r.with_hosts / r.measured - 1 for r in of), key=abs)
        print(f"| {name} | {len(of)} | {100 * before:.0f} % | {100 * after:.0f} % | {100 * worst:+.0f} % |", file=out)
    pairs = {"without": [0, 0], "with": [0, 0]}
    by_rival = {}
    for r in rows:
        if r.rival:
            by_rival.setdefault(r.rival, []).append(r)
    wrong = []
    for group in by_rival.values():
        for i, a in enumerate(group):
            for b in group[i + 1:]:
                if abs(a.measured - b.measured) <= 0.05 * max(a.measured, b.measured):
                    continue
                for key, pa, pb in (("without", a.without, b.without), ("with", a.with_hosts, b.with_hosts)):
                    right = (a.measured - b.measured) * (pa - pb) > 0
                    pairs[key][0] += right
                    pairs[key][1] += 1
                    if key == "with" and not right:
                        wrong.append(f'"{a.group}" and "{b.group}" for {a.label}')
    print(file=out)
    published.paragraph(f"**Order of strategies.** {pairs['with'][1]} pairs of strategies were measured on the same hardware. With the host "
                        f"model, {pairs['with'][0]} pairs are predicted in the right order; without it, {pairs['without'][0]} pairs." +
                        (f" With the host model, these pairs are predicted in the wrong order: {'; '.join(wrong)}." if wrong else ""), out)
    steps = ddp_steps()
    before = pool(lambda s: s.predict(OFF, options.tutti), steps, options.jobs)
    after = pool(lambda s: s.predict(PODS.replace("FIGURES", ""), options.tutti), steps, options.jobs)
    print("| DDP over TCP | steps | step time: median error without → with host model | exposed communication: median error without → with host model | "
          "exposed communication: 90th percentile of the error with host model |\n"
          "|---|---:|---:|---:|---:|", file=out)
    for model in ("bert", "cifar10", "imagenet", "all"):
        chosen = [i for i, s in enumerate(steps) if model in (s.model, "all")]
        of = [steps[i] for i in chosen]
        (s0, _), (e0, _) = ddp_errors(of, [before[i] for i in chosen])
        (s1, _), (e1, e90) = ddp_errors(of, [after[i] for i in chosen])
        print(f"| {model} | {len(of)} | {100 * s0:.0f} → {100 * s1:.0f} % | {100 * e0:.0f} → {100 * e1:.0f} % | {100 * e90:.0f} % |",
              file=out)
    print("\n<details><summary>Every row</summary>\n\n| group of rows | row | measured samples/s | predicted without host model | predicted with host model | error with host model |\n"
          "|---|---|---:|---:|---:|---:|", file=out)
    for r in rows:
        print(f"| {r.group} | {r.label} | {r.measured:.1f} | {r.without:.1f} | {r.with_hosts:.1f} | "
              f"{100 * (r.with_hosts / r.measured - 1):+.0f} % |", file=out)
    print("\n| model | hosts | GPUs | batch | step time, ms | predicted | exposed communication, ms | predicted | predicted without host model |\n"
          "|---|---:|---:|---:|---:|---:|---:|---:|---:|", file=out)
    for s, p, b in zip(steps, after, before):
        print(f"| {s.model} | {s.hosts} | {s.gpus} | {s.batch} | {s.step:.0f} | {p[0]:.0f} | {s.exposed:.0f} | {p[1]:.0f} | {b[1]:.0f} |",
              file=out)
    print("\n</details>", file=out)
    return {"servers": published.median([abs(r.with_hosts / r.measured - 1) for r in everything_with_servers]),
            "wrong pairs": 1 - pairs["with"][0] / pairs["with"][1], "DDP step": s1, "DDP exposed": e1}


# The targets of the model: median errors, and the share of pairs of strategies in the wrong order.
TARGETS = {"servers": 0.2, "wrong pairs": 0.1, "DDP step": 0.1, "DDP exposed": 0.35}


def check(reached):
    for what, target in TARGETS.items():
        print(f"{what}: {100 * reached[what]:.1f} % (target {100 * target:.0f} %)")
    missed = [what for what, target in TARGETS.items() if reached[what] > target]
    print(f"missed: {', '.join(missed)}" if missed else "all targets are reached")
    return 1 if missed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tutti", default=str(ROOT / "build/release/bin/tutti"), help="the program (build/release/bin/tutti)")
    parser.add_argument("--write", metavar="FILE", help="replace the section of this file between the marks of this script")
    parser.add_argument("--fit", action="store_true", help="fit the rate of a thread over an overlay network, leaving out one model at a time")
    parser.add_argument("--calibrate", action="store_true",
                        help="fit the parameters of hosts to DDP steps on two hosts, and predict all other steps")
    parser.add_argument("--check", action="store_true", help="print the errors and their targets; exit status 1 if a target is missed")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    if options.fit:
        return fit(options)
    if options.calibrate:
        return calibrate(options)
    if options.check:
        with open(os.devnull, "w") as nowhere:
            sys.exit(check(write_tables(options, nowhere)))
    if not options.write:
        return write_tables(options, sys.stdout)
    with tempfile.TemporaryFile("w+") as output:
        write_tables(options, output)
        output.seek(0)
        section = output.read()
    replace_section(options.write, "host_transport.py", section)


if __name__ == "__main__":
    main()
