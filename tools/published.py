#!/usr/bin/env python3
"""Compares predictions with published measurements.

    tools/published.py                             # prints the tables in Markdown
    tools/published.py --write docs/validation/throughputs.md    # replaces the tables there
    tools/published.py --only tf_bench --verbose   # some cases; --verbose prints every scenario

The measurements are in tests/reference/published/published.json, each with its source and a
remark on its verification; measurements without a verified source are not used. The row of a table for one
GPU is not predicted, but gives the computation time of a replica: a third of it is the forward pass,
and each layer has a share in proportion to its operations. All rows with more GPUs are predicted.
The parameters of the hardware are in scenarios/machines and scenarios/links, with their sources. No
parameter is fitted to a case.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap

from page_section import replace_section

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Point:
    """A row that is predicted.

    `per_replica`: the time of a step on a single GPU, in seconds. `measured`: the throughput of all
    GPUs, in samples/s. `strategy`: the strategy, or a list of strategies, the fastest of which is
    the prediction. `rival`: a key; points of a case with equal keys differ only in the strategy.
    """

    def __init__(self, case, label, model, gpus, batch, per_replica, measured, cluster, strategy, rival=None):
        self.case, self.label, self.model, self.gpus = case, label, model, gpus
        self.batch, self.per_replica, self.measured = batch, per_replica, measured
        self.cluster, self.rival = cluster, rival
        self.strategies = [strategy] if isinstance(strategy, str) else strategy
        self.predicted = self.problem = None

    def scenario(self, strategy):
        ms = self.per_replica * 1e3
        # The time of a single GPU includes its update. If servers update, their time is added.
        update = "" if strategy in (ON_CPU, ON_GPUS) or "DISTRIBUTED_REPLICATED" in strategy else "update_ms: 0 "
        return (f"cluster {{ {self.cluster} }}\n"
                f'workload {{ model: "{self.model}" batch: {self.batch} forward_ms: {ms / 3:.6f} backward_ms: {2 * ms / 3:.6f} '
                f"{update}}}\n"
                f"strategy {{ {strategy} reduction: MEAN }}\nrun {{ steps: 3 }}\n")

    def error(self):
        return self.predicted / self.measured - 1


def one_switch(link, extra=""):
    return f'network {{ kind: ONE_SWITCH link: "{link}" {extra} }}'


# gRPC of TensorFlow 1.x between hosts (tools/host_transport.py has the sources).
TF_1 = "host_transport { threads: 1 thread_gb_per_s: 0.4 receive_us_per_mb2: 8.5 }"


def workers(machine, gpus, per_worker):
    count = max(1, gpus // per_worker)
    return f'workers {{ machine: "{machine}" count: {count} replicas: {min(gpus, per_worker)} }}'


# --- the cases, by the form of their tables ---

TF_MODELS = {"InceptionV3": "inception3_tf_cnn_benchmarks", "ResNet-50": "resnet50_tf_cnn_benchmarks",
             "ResNet-152": "resnet152_tf_cnn_benchmarks", "AlexNet": "alexnet_tf_cnn_benchmarks",
             "VGG16": "vgg16_tf_cnn_benchmarks"}
ON_CPU = "tensorflow { tf_cnn_benchmarks { local_parameter_device: CPU } }"
ON_GPUS = "tensorflow { tf_cnn_benchmarks { } }"
TF_STRATEGIES = {"parameter_server/cpu": ON_CPU,
                 "variable_update=parameter_server, local_parameter_device=cpu": ON_CPU,
                 "parameter_server/gpu": ON_GPUS,
                 "replicated without NCCL/gpu": "tensorflow { tf_cnn_benchmarks { variable_update: REPLICATED } }",
                 "replicated with NCCL": 'tensorflow { tf_cnn_benchmarks { variable_update: REPLICATED all_reduce_spec { text: "nccl" } } }'}


def tf_batch(case, model):
    if "batch 32/GPU" in case["workload"]:
        return 32
    listed = case["workload"][case["workload"].index("{"):case["workload"].index("}") + 1]
    return json.loads(listed)[model]


def tf_bench(case, machine):
    """Yields the points of tables of one machine, in which the first row is for one GPU."""
    first = case["rows"][0]
    for row in case["rows"][1:]:
        for column, model in enumerate(case["columns"][1:], 1):
            if row[column] is None:
                continue
            batch = tf_batch(case, model)
            yield Point(case, f"{model}, {case['strategy'][model]}", TF_MODELS[model], row[0], batch, batch / first[column],
                        row[column], workers(machine, row[0], 8), TF_STRATEGIES[case["strategy"][model]])


def tf_bench_distributed(case):
    """Yields the points of tables of p2.8xlarge.

    Each worker has one server, unless the table states fewer servers.
    """
    fewer = {"InceptionV3": 6, "ResNet-152": 4}
    first = case["rows"][0]
    for row in case["rows"][2:]:
        for column, model in enumerate(case["columns"][1:], 1):
            count, batch = row[0] // 8, tf_batch(case, model)
            servers = fewer.get(model, count) if count == 8 else count
            yield Point(case, f"{model}, distributed_replicated, {servers} servers", TF_MODELS[model], row[0], batch,
                        batch / first[column], row[column],
                        workers("ec2-p2-16xlarge", row[0], 8) + " " + one_switch("ethernet-10", TF_1),
                        f"tensorflow {{ tf_cnn_benchmarks {{ variable_update: DISTRIBUTED_REPLICATED servers_on_workers: {servers} }} }}")


def ddp_readme(case):
    alone = {row[0]: row[2] for row in case["rows"] if row[1] == "no ddp"}
    for model, gpus, seconds in case["rows"]:
        if gpus in ("no ddp", 1):
            continue
        yield Point(case, f"{model}, DDP 25 MiB", f"{model}_torchvision", gpus, 32, alone[model], 32 * gpus / seconds,
                    workers("dgx1-v100", gpus, 8) + " " + one_switch("edr"), 'algorithm: "nccl" pytorch_ddp { bucket_cap_mb: 25 }')


def ddp_to_40(case):
    alone = case["rows"][0][1]
    for gpus, seconds in case["rows"][1:]:
        yield Point(case, "resnet50, DDP 25 MiB", "resnet50_torchvision", gpus, 32, alone, 32 * gpus / seconds,
                    workers("dgx1-v100", gpus, 8) + " " + one_switch("edr"), 'algorithm: "nccl" pytorch_ddp { bucket_cap_mb: 25 }')


def lambda_fp32(case):
    """Yields the points of tables of ResNet-50, whose batch size depends on the number of GPUs."""
    kinds = {"A100 80GB SXM4": "dgx-a100", "H100 80GB SXM5": "hgx-h100", "LambdaCloud V100 16GB": "dgx1-v100"}
    rows = {row[0]: row for row in case["rows"]}
    several = {"A100 80GB SXM4": [f"{n}x A100 80GB SXM4" for n in (2, 4, 8)],
               "H100 80GB SXM5": [f"{n}x H100 80GB SXM5" for n in (2, 4, 8)],
               "LambdaCloud V100 16GB": ["LambdaCloud 2x V100 16GB", "LambdaCloud 4xV100 16GB", "LambdaCloud 8xV100 16GB"]}
    for one, machine in kinds.items():
        for name in several[one]:
            gpus, batch = rows[name][1], rows[name][6] // rows[name][1]
            yield Point(case, f"ResNet-50, {name}", "resnet50_torchvision", gpus, batch, batch / rows[one][5], rows[name][5],
                        workers(machine, gpus, 8), 'algorithm: "nccl" pytorch_ddp { }')


HKBU_MODELS = {"ResNet-50": "resnet50_torchvision", "BERT-Base": "bert_base_hf", "BERT-Large": "bert_large_hf"}
HKBU_LINKS = {"10GbE with TCP/IP": "ethernet-10", "100GbIB with RDMA": "edr", "100GbE with TCP/IP": "ethernet-100"}


MERGED_MIB = (1, 2, 4, 8, 16, 32, 64, 128)


def hkbu(case):
    """Yields the points of tables of Horovod.

    The tables have three strategies: one all-reduce per tensor, all-reduces of at most 512 MiB after
    the backward pass, and MG-WFBP. The solver of MG-WFBP chooses which tensors to merge for each
    network. The prediction of MG-WFBP is therefore the fastest of several pack sizes.
    """
    for row in case["rows"]:
        model, batch, network, method, single = row[:5]
        packs = {"BERT-Large": 3}.get(model, 1)
        packing = {"BSP-A2A": [f"num_packs: {packs}"], "WFBP-A2A": [""],
                   "MG-WFBP": [f"bytes_per_pack: {mib << 20}" for mib in MERGED_MIB]}.get(method)
        if packing is None:
            continue
        link = HKBU_LINKS[network]
        for column, gpus in ((5, 4), (7, 8), (9, 16), (11, 32)):
            yield Point(case, f"{model}, {network.split(' ')[0]}, {method}", HKBU_MODELS[model], gpus, batch, batch / single,
                        row[column], workers("pcie8-v100", gpus, 4) + (" " + one_switch(link) if gpus > 4 else ""),
                        [f'algorithm: "nccl" {how} update: AFTER_ALL' for how in packing],
                        rival=(model, network, gpus))


USED = {
    "tf_bench_dgx1_p100_synthetic": lambda c: tf_bench(c, "dgx1-p100"),
    "tf_bench_dgx1_p100_real": lambda c: tf_bench(c, "dgx1-p100"),
    "tf_bench_dgx1_p100_real_bs32": lambda c: tf_bench(c, "dgx1-p100"),
    "tf_bench_ec2_k80_synthetic": lambda c: tf_bench(c, "ec2-p2-16xlarge"),
    "tf_bench_ec2_k80_real": lambda c: tf_bench(c, "ec2-p2-16xlarge"),
    "tf_bench_ec2_k80_synthetic_bs32": lambda c: tf_bench(c, "ec2-p2-16xlarge"),
    "tf_bench_ec2_k80_real_bs32": lambda c: tf_bench(c, "ec2-p2-16xlarge"),
    "tf_bench_ec2_k80_dist_synthetic": tf_bench_distributed,
    "ddp_bench_dgx1_v100": ddp_readme,
    "ddp_pr30660_resnet50_to40": ddp_to_40,
    "lambda_pytorch_fp32": lambda_fp32,
    "hkbu_ddl_benchmarks_2020": hkbu,
}

NOT_USED = {
    "tf_bench_gce_k80_": "the wiring of n1-standard-32-k80x8 is not described anywhere",
    "tf_bench_issue201": "the machine is not described, and its two rows have different types (float32 and float16)",
    "horovod_512gpu": "the servers' wiring is not stated",
    "horovod_autotune": "hardware and model are not stated",
    "horovod_288": "neither the kind of InfiniBand nor the wiring of the GPUs is stated",
    "horovod_659": "the batch size is not stated",
    "ddp_bucket_sweep_gloo": "the GPUs are not stated, and Gloo's rings are not modelled; only differences between sizes are predicted ([bucket sizes](strategies.md#bucket-sizes))",
    "nccl_resnet50_fusion": "only α and β of NCCL over 1 GbE describe the hardware; only the best size is predicted ([bucket sizes](strategies.md#bucket-sizes))",
    "mgwfbp": "the table has parameters of a network, but no measured throughput",
    "tf_issue36008": "the batch size is not stated",
    "byteps_issue59": "neither the batch size nor the wiring of the GPUs is stated; the run with 16 GPUs was set up wrongly",
    "byteps_issue188": "the model (Faster R-CNN of mmdetection) is not listed",
    "byteps_readme": "the table has only relative claims, and the wiring of the machines is not stated",
    "byteps_issue350": "the GPUs and the network are not stated",
    "elasticdl": "the run uses a library that is not described",
    "megatron_bert": "the machine is not described",
    "dle_": "neither the batch size of each row nor the packing (Apex, Horovod) is stated",
    "lambda_pytorch_fp16": "the type of the gradients on the wire is not stated",
    "cnn_benchmarks": "measured on one GPU", "convnet_benchmarks": "measured on one GPU", "pipedream": "measured on one GPU", "nanogpt": "the throughput of one GPU is not stated",
    "deepbench": "times of single all-reduces, and no throughputs of training",
    "poseidon": "a system that is not modelled", "bytescheduler": "a system that is not modelled",
    "blueconnect": "a system that is not modelled",
    "hta_ddp": "the CPU that launches kernels limits the step; the buckets of the run are tested (tests/core/packing/buckets_test.cpp)",
    "ddp_bucket_sweep_mi300x": "the table contradicts itself", "tf_issue37913": "the model is not stated",
}


NOT_VERIFIED = {
    "recalled": "the figures are quoted from memory and were not compared with the source",
    "abstract": "the figures are those of the abstract; the paper itself was not read",
}


def why_not(case):
    if case["verification"].split(" ")[0] not in ("read", "parsed"):
        return NOT_VERIFIED[case["verification"].split(" ")[0]]
    for prefix, reason in NOT_USED.items():
        if case["id"].startswith(prefix):
            return reason
    raise SystemExit(f"published.py: {case['id']} is neither used nor listed with a reason")


# --- prediction ---

def predict(point, program):
    speeds = [speed(point, strategy, program) for strategy in point.strategies]
    point.predicted = max((s for s in speeds if s), default=None)


def speed(point, strategy, program):
    with tempfile.NamedTemporaryFile("w", suffix=".textproto", delete=False) as file:
        file.write(point.scenario(strategy))
    try:
        done = subprocess.run([program, "simulate", file.name, "--format", "json"], capture_output=True, text=True)
    finally:
        os.unlink(file.name)
    if done.returncode != 0:
        point.problem = done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit status {done.returncode}"
        return None
    return point.batch * point.gpus / (json.loads(done.stdout)["step_time_us"] / 1e6)


# --- output ---

def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def rivals(points):
    """Returns the pairs of rival strategies in predicted order, and those in the wrong order.

    Rivals have the same model and hardware, and throughputs that differ by more than 5 %.
    """
    agree, differ = [], []
    groups = {}
    for point in points:
        if point.rival:
            groups.setdefault((point.case["id"],) + point.rival, []).append(point)
    for group in groups.values():
        for i, a in enumerate(group):
            for b in group[i + 1:]:
                if abs(a.measured - b.measured) <= 0.05 * max(a.measured, b.measured):
                    continue
                right = (a.measured - b.measured) * (a.predicted - b.predicted) > 0
                (agree if right else differ).append((a, b))
    return agree, differ


def packings(points):
    """Returns groups of points that differ only in packing: per tensor, merged, or all in one."""
    groups = {}
    for point in points:
        if point.case["id"].startswith("hkbu"):
            groups.setdefault(point.rival, []).append(point)
    return {where: group for where, group in groups.items() if len(group) > 1}


def loss(group):
    """Returns the loss of throughput if the setting that is predicted to be best is used.

    The loss is the difference between the highest measured throughput and the measured throughput
    of this setting, as a share of the highest one.
    """
    return 1 - max(group, key=lambda p: p.predicted).measured / max(p.measured for p in group)


def paragraph(text, out):
    print(textwrap.fill(text, 98, break_on_hyphens=False) + "\n", file=out)


def write_packings(points, out):
    groups = packings(points)
    if not groups:
        return
    good = [where for where, group in groups.items() if loss(group) <= 0.05]
    worse = len(groups) - len(good)
    paragraph(f"**Best packing.** In {len(groups)} settings, three packings were measured with the same model on the same hardware: one "
              f"all-reduce per tensor (WFBP-A2A), merged all-reduces (MG-WFBP), and one all-reduce for all tensors (BSP-A2A). In "
              f"{len(good) if worse else 'all'} of these settings, the measured throughput of the packing that is predicted to be best is "
              f"at most 5 % below the best measured throughput. "
              + ("The exception is:" if worse == 1 else "The exceptions are:" if worse else ""), out)
    if len(good) < len(groups):
        print("| model, network | GPUs | predicted to be best | measured best | slower by | reason |\n|---|---:|---|---|---:|---|", file=out)
    for where, group in groups.items():
        if loss(group) <= 0.05:
            continue
        chosen, best = max(group, key=lambda p: p.predicted), max(group, key=lambda p: p.measured)
        print(f"| {where[0]}, {where[1].split(' ')[0]} | {where[2]} | {chosen.label.rsplit(', ', 1)[1]} | {best.label.rsplit(', ', 1)[1]} | "
              f"{100 * loss(group):.1f} % | {reason(chosen, best)} |", file=out)
    print("\n![Predicted and measured throughputs by packing](../pictures/packings.svg)\n", file=out)


def draw_packings(points):
    """Draws panels by model and network, with predicted lines and measured dots over the packing.

    Each number of GPUs has a colour. Lines and dots are relative to the best measured throughput of
    the same number of GPUs.
    """
    colours = {4: "#0072b2", 8: "#d55e00", 16: "#009e73", 32: "#cc79a7"}
    names = [("WFBP-A2A", "each tensor"), ("MG-WFBP", "merged"), ("BSP-A2A", "all in one")]
    panels = {}
    for (model, network, gpus), group in packings(points).items():
        panels.setdefault((model, network.split(" ")[0]), {})[gpus] = {p.label.rsplit(", ", 1)[1]: p for p in group}
    width, height, left, top = 280, 190, 44, 40
    body = []
    for number, (name, by_gpus) in enumerate(sorted(panels.items())):
        x0, y0 = left + (number % 3) * width, top + (number // 3) * height
        wide, high = width - 70, height - 66
        most = max(max(p.predicted, p.measured) / max(q.measured for q in g.values()) for g in by_gpus.values() for p in g.values())

        def at(place, value):
            return f"{x0 + 20 + place * (wide - 40) / 2:.1f}", f"{y0 + high - value / most * high:.1f}"

        body.append(f'<text x="{x0}" y="{y0 - 10}">{name[0]}, {name[1]}</text>')
        body.append(f'<rect x="{x0}" y="{y0}" width="{wide}" height="{high}" fill="none" stroke="#cccccc"/>')
        for tick in (0.5, 1.0):
            body.append(f'<text x="{x0 - 6}" y="{float(at(0, tick)[1]) + 4:.1f}" text-anchor="end">{tick:g}</text>')
        for place, (_, said) in enumerate(names):
            body.append(f'<text x="{at(place, 0)[0]}" y="{y0 + high + 16}" text-anchor="middle" font-size="10">{said}</text>')
        for gpus, group in sorted(by_gpus.items()):
            best = max(p.measured for p in group.values())
            there = [(place, group[method]) for place, (method, _) in enumerate(names) if method in group]
            line = " ".join(",".join(at(place, p.predicted / best)) for place, p in there)
            body.append(f'<polyline points="{line}" fill="none" stroke="{colours[gpus]}" stroke-width="1.6"/>')
            for place, p in there:
                x, y = at(place, p.measured / best)
                body.append(f'<circle cx="{x}" cy="{y}" r="3.4" fill="{colours[gpus]}"/>')
    below = top + ((len(panels) + 2) // 3) * height - 4
    for number, (gpus, colour) in enumerate(colours.items()):
        body.append(f'<text x="{left + 90 * number}" y="{below}" fill="{colour}">{gpus} GPUs</text>')
    body.append(f'<text x="{left + 380}" y="{below}">lines: predicted; dots: measured; samples/s over the best measured</text>')
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + 3 * width}" height="{below + 12}" font-family="sans-serif" font-size="12">\n'
            '<rect width="100%" height="100%" fill="white"/>\n' + "\n".join(body) + "\n</svg>\n")


def write_tables(points, unused, out):
    good = [p for p in points if p.predicted]
    errors = [abs(p.error()) for p in good]
    paragraph("`tools/published.py` writes this section. The script predicts every row with several GPUs of every table that "
              "describes its hardware sufficiently. The only measured input of a prediction is the throughput of one GPU, "
              "from the same table.", out)
    print("| case | rows | median error | largest error | row with the largest error |\n|---|---:|---:|---:|---|", file=out)
    for case in dict.fromkeys(p.case["id"] for p in good):
        of = [p for p in good if p.case["id"] == case]
        worst = max(of, key=lambda p: abs(p.error()))
        print(f"| {case} | {len(of)} | {100 * median([abs(p.error()) for p in of]):.1f} % | {100 * worst.error():+.1f} % | "
              f"{worst.label}, {worst.gpus} GPUs |", file=out)
    print(file=out)
    paragraph(f"Over all {len(good)} rows, the median error is {100 * median(errors):.1f} %, and {sum(e <= 0.1 for e in errors)} rows "
              f"have an error of at most 10 %. In the rows with MG-WFBP, a solver chose for each network which gradients to merge; the "
              f"prediction uses the best of {len(MERGED_MIB)} pack sizes instead.", out)

    agree, differ = rivals(good)
    total = len(agree) + len(differ)
    if total:
        paragraph(f"**Order of strategies.** In {total} pairs of rows, two strategies were measured with the same model on the same "
                  f"hardware, and their throughputs differ by more than 5 %. The faster strategy is predicted correctly in "
                  f"{len(agree)} of these pairs (Kendall's τ = {(len(agree) - len(differ)) / total:.2f}). "
                  + ("The exceptions are:" if differ else ""), out)
        if differ:
            print("| model, network | GPUs | measured samples/s | predicted | reason |\n|---|---:|---|---|---|", file=out)
        for a, b in differ:
            name = a.label.rsplit(", ", 1)
            other = b.label.rsplit(", ", 1)[1]
            print(f"| {name[0]} | {a.gpus} | {name[1]} {a.measured:.0f}, {other} {b.measured:.0f} | {a.predicted:.0f}, "
                  f"{b.predicted:.0f} | {reason(a, b)} |", file=out)
        print(file=out)

    write_packings(good, out)
    print("<details><summary>Every row</summary>\n\n| case | row | GPUs | measured samples/s | predicted samples/s | error |\n"
          "|---|---|---:|---:|---:|---:|", file=out)
    for p in points:
        if p.predicted:
            print(f"| {p.case['id']} | {p.label} | {p.gpus} | {p.measured:.1f} | {p.predicted:.1f} | {100 * p.error():+.1f} % |", file=out)
        else:
            print(f"| {p.case['id']} | {p.label} | {p.gpus} | {p.measured:.1f} | not: {p.problem} | |", file=out)
    print("\n</details>\n\n<details><summary>Tables that are not predicted</summary>\n\n| case | reason |\n|---|---|", file=out)
    for case, reason_text in unused:
        print(f"| {case['id']} | {reason_text} |", file=out)
    print("\n</details>", file=out)


def reason(a, b):
    """Returns why the order is wrong, if known (evidence: docs/validation/throughputs.md)."""
    slow = a if a.measured < b.measured else b
    if slow.label.endswith("WFBP-A2A"):
        return "the fixed cost of a collective (Horovod's negotiation, launches) is not modelled, so hundreds of small collectives look too cheap"
    return "not known"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tutti", default=str(ROOT / "build/release/bin/tutti"), help="the program (build/release/bin/tutti)")
    parser.add_argument("--only", default="", help="predict only cases whose name begins with this text")
    parser.add_argument("--write", metavar="FILE", help="replace the section of this file between the marks of this script")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--verbose", action="store_true", help="print every scenario")
    options = parser.parse_args()
    cases = json.loads((ROOT / "tests/reference/published/published.json").read_text())["cases"]
    points, unused = [], []
    for case in cases:
        used = case["id"] in USED and case["verification"].split(" ")[0] in ("read", "parsed")
        why = None if used else why_not(case)
        if not case["id"].startswith(options.only):
            continue
        if used:
            points.extend(USED[case["id"]](case))
        else:
            unused.append((case, why))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(lambda p: predict(p, options.tutti), points))
    if options.verbose:
        for p in points:
            print(f"# {p.case['id']}: {p.label}, {p.gpus} GPUs: {p.predicted or p.problem}\n" +
                  "\n".join(p.scenario(strategy) for strategy in p.strategies), file=sys.stderr)
    if not any(p.predicted for p in points):
        raise SystemExit("published.py: nothing could be predicted: " + (points[0].problem if points else "no such case"))
    if not options.write:
        return write_tables(points, unused, sys.stdout)
    with tempfile.TemporaryFile("w+") as output:
        write_tables(points, unused, output)
        output.seek(0)
        section = output.read()
    good = [p for p in points if p.predicted]
    if packings(good):
        (ROOT / "docs" / "pictures" / "packings.svg").write_text(draw_packings(good))
    replace_section(options.write, "published.py", section)


if __name__ == "__main__":
    main()
