"""Predicts published training speeds from descriptions of their hardware, and says how often the order of settings comes
out as measured (see tools/published.sh).

What a prediction knows: the machine and the network by their data sheets, the model's gradients, and how long one GPU alone
computes, as the same source measured it. Nothing is fitted.
"""

import argparse
import concurrent.futures
import itertools
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))

# GeForce cards reach neither each other nor network cards without host memory, which their route crosses here anyway.
BOX_OF_4 = """
  machine {
    name: "box"
    device {
      name: "gpu[0-3]" kind: GPU memory_gb_per_s: 540 multiprocessors: 68
      flops { data_type: FLOAT32 tflops: 13.4 }
      source: "GeForce RTX 2080 Ti data sheet: 616 GB/s, of which 88 % as other cards reach; 68 multiprocessors"
    }
    device { name: "cpu[0-1]" kind: CPU memory_gb_per_s: 102 source: "6 channels of DDR4-2666, 80 %; assumed" }
    nic { name: "nic0" bandwidth_gb_per_s: 12.5 source: "a port of the network below, or more" }
    link { from: "cpu0" to: "gpu[0-1]" kind: PCIE generation: 3 latency_us: 0.5 }
    link { from: "cpu1" to: "gpu[2-3]" kind: PCIE generation: 3 latency_us: 0.5 }
    link { from: "cpu0" to: "nic0" kind: PCIE generation: 3 latency_us: 0.5 }
    link { from: "cpu0" to: "cpu1" kind: SOCKET bandwidth_gb_per_s: 10 latency_us: 0.5 source: "Skylake UPI: NVIDIA/nccl src/graph/topo.h" }
    ring { span: ONE_WORKER gpu: [0, 1, 2, 3] channels: 2 source: "index order: no two of them are nearer than others of a socket" }
    ring { span: SEVERAL_WORKERS gpu: [0, 1, 2, 3] channels: 2 }
  }"""

MODELS = {
    "ResNet-50": "resnet50_torchvision", "BERT-Base": "bert_base_hf", "BERT-Large": "bert_large_hf",
    "resnet50": "resnet50_torchvision", "resnet101": "resnet101_torchvision",
    "resnext50_32x4d": "resnext50_32x4d_torchvision", "resnext101_32x8d": "resnext101_32x8d_torchvision",
    "tf AlexNet": "alexnet_tf_cnn_benchmarks", "tf VGG16": "vgg16_tf_cnn_benchmarks",
    "tf InceptionV3": "inception3_tf_cnn_benchmarks", "tf ResNet-50": "resnet50_tf_cnn_benchmarks",
    "tf ResNet-152": "resnet152_tf_cnn_benchmarks",
}
NETWORKS = {"10GbE with TCP/IP": "ethernet-10", "100GbE with TCP/IP": "ethernet-100", "100GbIB with RDMA": "edr"}

# Merging by MG-WFBP's solver is what is best of these, in MiB.
MERGED = [1, 2, 4, 8, 16, 32, 64, 128]
HKBU_METHODS = {
    "BSP-A2A": ["bytes_per_pack: 0"],
    "WFBP-A2A": ["bytes_per_pack: 1"],
    "MG-WFBP": [f"bytes_per_pack: {mib << 20}" for mib in MERGED],
}
NOT_PREDICTED = {
    "ByteScheduler-A2A": "tensors are cut and sent by priority, which no strategy here does",
    "ByteScheduler-PS": "tensors are cut and sent by priority, which no strategy here does",
    "BSP-PS": "servers on hosts of their own, whose number the source does not give",
    "WFBP-PS": "servers on hosts of their own, whose number the source does not give",
}

HEAD = """# Published speeds

`tools/published.sh > docs/published.md` makes this page: training speeds that others measured and published, beside what Tutti predicts from descriptions
of their hardware. What a prediction knows: machine and network by their data sheets, the model's gradients, and how long one GPU
alone computes, by the same source (a third of it forward). Nothing is fitted to any case. Samples per second, measured / predicted, and
the error:
"""

ERRORS = """Why they are so large where they are:

- *Inside a box of PCIe cards* (4 GPUs, BERT): 1.3 GB are all-reduced at 4.6 GB/s, as the measured steps say; the description has links of 12 GB/s
  and a way between sockets of 10. These cards (GeForce, the authors' other papers say) pass everything through host memory, and what NCCL gets there is
  no figure of a data sheet (in a published table of NCCL, four newer ones, RTX 4090 on PCIe 4, reach 2.6 GB/s: kalavai). Everything with more of these boxes over InfiniBand is held back by it as well.
- *TCP over 100 Gb/s*: NCCL's sockets do not fill such a port; the description has no limit of one connection, since no source gives one for this cluster
  (`connection_gb_per_s` takes yours).
- *One all-reduce per tensor*: Horovod agrees on each of them first, and NCCL starts a kernel for each; neither costs anything here unless `launch_us` says so.
- *AlexNet on 8 P100*: steps of 0.2 s feed 4,096 images, which one GPU's step tells nothing of; and updates and copies of 250 MB of variables wait for each other.
- *PyTorch DDP* is 3 to 8 % slower than predicted at any number of GPUs, with one GPU too (3 % in its source): what its hooks and copies of buckets cost."""

ORDER = """In both, an all-reduce per tensor is predicted to pay and does not: 398 small all-reduces over 32 GPUs, whose start and agreement (above) are not in the prediction."""


def scenario(machine, workers, replicas, network, model, forward_ms, backward_ms, strategy, described=""):
    return f"""cluster {{
  workers {{ machine: "{machine}" count: {workers} replicas: {replicas} }}
  network {{ kind: ONE_SWITCH link: "{network}" }}{described}
}}
workload {{ model: "{model}" forward_ms: {forward_ms:.4f} backward_ms: {backward_ms:.4f} batch: 1 }}
strategy {{ {strategy} }}
"""


class Point:
    """One measured figure, and the scenarios of which the fastest predicts it."""

    def __init__(self, case, hardware, subject, gpus, setting, samples, measured_s, scenarios):
        self.case, self.hardware, self.subject, self.gpus, self.setting = case, hardware, subject, gpus, setting
        self.samples, self.measured, self.scenarios = samples, measured_s, scenarios
        self.predicted = None

    def where(self):
        return (self.case, self.hardware, self.subject, self.gpus)

    def error(self):
        """Of the speed."""
        return self.measured / self.predicted - 1


def hkbu(case):
    counts = [int(name.split()[0]) for name in case["columns"][4:]]
    for row in case["rows"]:
        model, batch, network, method = row[:4]
        if method not in HKBU_METHODS:
            continue
        alone_ms = 1000 * batch / row[4]
        for gpus, speed in list(zip(counts, row[4:]))[1:]:
            texts = [scenario("box", gpus // 4, 4, NETWORKS[network], MODELS[model], alone_ms / 3, alone_ms * 2 / 3,
                              f'algorithm: "nccl" staging: VIA_HOST {packing}', BOX_OF_4) for packing in HKBU_METHODS[method]]
            yield Point("hkbu", network, model, gpus, method, batch * gpus, batch * gpus / speed, texts)


def ddp(case):
    alone = {model: seconds for model, gpus, seconds in case["rows"] if gpus == "no ddp"}
    for model, gpus, seconds in case["rows"]:
        if gpus == "no ddp":
            continue
        ms = 1000 * alone[model]
        text = scenario("dgx1-v100", max(1, gpus // 8), min(gpus, 8), "edr", MODELS[model], ms / 3, ms * 2 / 3,
                        'algorithm: "nccl" pytorch_ddp { bucket_cap_mb: 25 }')
        yield Point("ddp", "DGX-1 (V100)", model, gpus, "DDP, 25 MiB", 32 * gpus, seconds, [text])


def tf(case, hardware, machine, network, batches, settings, per_worker):
    """tf_cnn_benchmarks on machines of which one holds `per_worker` GPUs; the first row is one GPU alone."""
    names = case["columns"][1:]
    alone = dict(zip(names, case["rows"][0][1:]))
    for gpus, *speeds in case["rows"][1:]:
        for name, speed in zip(names, speeds):
            ms = 1000 * batches[name] / alone[name]
            setting, strategy = settings(name, max(1, gpus // per_worker))
            text = scenario(machine, max(1, gpus // per_worker), min(gpus, per_worker), network, MODELS["tf " + name], ms / 3,
                            ms * 2 / 3, strategy)
            yield Point(case["id"], hardware, name, gpus, setting, batches[name] * gpus, batches[name] * gpus / speed, [text])


def benchmarks(fields):
    return f"tf_cnn_benchmarks {{ {fields} }} reduction: MEAN"


ON_CPU = ("parameter_server, cpu", benchmarks("variable_update: PARAMETER_SERVER local_parameter_device: CPU"))
ON_GPUS = ("parameter_server, gpu", benchmarks("variable_update: PARAMETER_SERVER local_parameter_device: GPU"))
REPLICATED = ("replicated", benchmarks("variable_update: REPLICATED local_parameter_device: GPU"))
REPLICATED_NCCL = ("replicated, NCCL", 'algorithm: "nccl" reduction: MEAN')


def tf_dgx1(case):
    return tf(case, "DGX-1 (P100)", "dgx1-p100", "edr",
              {"AlexNet": 512, "VGG16": 64, "InceptionV3": 64, "ResNet-50": 64, "ResNet-152": 64},
              lambda name, workers: REPLICATED_NCCL if name in ("AlexNet", "VGG16") else ON_CPU, 8)


def tf_ec2(case):
    """p2.8xlarge is half a p2.16xlarge."""
    def setting(name, workers):
        return ON_CPU if name == "InceptionV3" else REPLICATED if name.startswith("ResNet") else ON_GPUS
    return tf(case, "EC2 p2.8xlarge", "ec2-p2-16xlarge", "ethernet-10",
              {"AlexNet": 512, "VGG16": 32, "InceptionV3": 64, "ResNet-50": 64, "ResNet-152": 32}, setting, 8)


def tf_ec2_dist(case):
    def setting(name, workers):
        servers = workers if workers < 8 else 6 if name == "InceptionV3" else 4
        return "distributed_replicated", benchmarks(f"variable_update: DISTRIBUTED_REPLICATED servers_on_workers: {servers}")
    return tf(case, "EC2 p2.8xlarge, 10 Gb/s", "ec2-p2-16xlarge", "ethernet-10",
              {"InceptionV3": 64, "ResNet-50": 64, "ResNet-152": 32}, setting, 8)


CASES = {"hkbu": hkbu, "ddp": ddp, "tf_dgx1": tf_dgx1, "tf_ec2": tf_ec2, "tf_ec2_dist": tf_ec2_dist}


def step_seconds(program, folder, text):
    file, path = tempfile.mkstemp(suffix=".textproto", dir=folder)
    with os.fdopen(file, "w") as out:
        out.write(text)
    done = subprocess.run([program, "simulate", path, "--format", "json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{path}:\n{done.stderr}\n{text}")
    return json.loads(done.stdout)["step_time_us"] / 1e6


def predict(points, program, jobs):
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        texts = {text for point in points for text in point.scenarios}
        seconds = dict(zip(texts, pool.map(lambda text: step_seconds(program, folder, text), texts)))
    for point in points:
        point.predicted = min(seconds[text] for text in point.scenarios)


def pairs(points, apart):
    """Settings of the same subject and hardware, measured to be further apart than that: (faster, slower)."""
    for _, group in itertools.groupby(sorted(points, key=Point.where), key=Point.where):
        for a, b in itertools.combinations(group, 2):
            if a.measured > b.measured:
                a, b = b, a
            if b.measured / a.measured > 1 + apart:
                yield a, b


def print_speeds(points):
    counts = sorted({p.gpus for p in points})
    print("| | model | setting | " + " | ".join(f"{n} GPUs" for n in counts) + " |\n|---|---|---|" + "---:|" * len(counts))
    rows = {}
    for p in points:
        rows.setdefault((p.hardware, p.subject, p.setting), {})[p.gpus] = p
    for row, cells in rows.items():
        texts = []
        for n in counts:
            p = cells.get(n)
            texts.append(f"{speed(p, p.measured)} / {speed(p, p.predicted)}, {100 * p.error():+.0f} %" if p else "")
        print("| " + " | ".join((*row, *texts)) + " |")


def speed(point, seconds):
    """With three digits."""
    value = point.samples / seconds
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}"


def print_errors(points):
    print("| | points | median error | 90th percentile | bias |\n|---|---:|---:|---:|---:|")
    for name, group in itertools.groupby(points, key=lambda p: (p.case, p.hardware)):
        errors = [p.error() for p in group]
        sizes = sorted(abs(e) for e in errors)
        at = lambda share: sizes[min(len(sizes) - 1, int(share * len(sizes)))]
        print(f"| {name[0]}: {name[1]} | {len(errors)} | {100 * at(0.5):.1f} % | {100 * at(0.9):.1f} % | "
              f"{100 * sum(errors) / len(errors):+.1f} % |")


def print_order(points, apart):
    agree, wrong = 0, []
    for faster, slower in pairs(points, apart):
        if faster.predicted < slower.predicted:
            agree += 1
        else:
            wrong.append((faster, slower))
    total = agree + len(wrong)
    print(f"{agree} of {total} pairs of settings that were measured more than {100 * apart:.0f} % apart are predicted in this order: "
          f"Kendall's tau {(agree - len(wrong)) / total:.2f}." if total else "no pairs")
    if wrong:
        print("\n| | model | GPUs | faster | slower | measured | predicted |\n|---|---|---:|---|---|---:|---:|")
    for a, b in wrong:
        print(f"| {a.hardware} | {a.subject} | {a.gpus} | {a.setting} | {b.setting} | {100 * (b.measured / a.measured - 1):.1f} % | "
              f"{100 * (b.predicted / a.predicted - 1):.1f} % |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, help="tutti")
    parser.add_argument("--measured", default=os.path.join(HERE, "measured.json"))
    parser.add_argument("--apart", type=float, default=0.05, help="pairs measured nearer than this share have no order")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", help="one case")
    arguments = parser.parse_args()
    with open(arguments.measured) as file:
        cases = {case["id"]: case for case in json.load(file)["cases"]}
    points = [point for name, of in CASES.items() if arguments.only in (None, name)
              for point in of(cases[name])]
    predict(points, arguments.program, arguments.jobs)
    print(HEAD)
    print_speeds(points)
    print("\n## Errors\n\nOf the speed, over all points of a case:\n")
    print_errors(points)
    print("\n" + ERRORS)
    print("\n## Order\n")
    print_order(points, arguments.apart)
    print("\n" + ORDER)
    print("\n## Not predicted\n")
    for name, why in NOT_PREDICTED.items():
        print(f"- {name}: {why}")
    print("\n## Sources\n")
    for name, case in cases.items():
        print(f"- {name}: {case['source']} ({case['read']}). {case['hardware']}. {case['workload']}.")


if __name__ == "__main__":
    sys.exit(main())
