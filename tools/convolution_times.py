#!/usr/bin/env python3
"""Compares predicted training throughputs of convolutional networks on one GPU with published ones.

    tools/convolution_times.py                                   # prints the table in Markdown
    tools/convolution_times.py --write docs/precision.md         # replaces the table there
    tools/convolution_times.py --tutti OLD                       # another version of Tutti

The times follow from operations, shapes and the data sheet of the GPU. Only the three rows of
resnet50_torchvision in float32 on a V100 were used to set a parameter (the efficiency of
convolutions in float32).
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

from page_section import replace_section

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Peak rates in TFLOP/s, and the memory bandwidth of the data sheet in GB/s. On GeForce cards,
# products of 16 bits are added in float32.
GPUS = {
    "V100": ({"FLOAT32": 15.7, "FLOAT16": 125}, 900),
    "A100 40 GB": ({"TF32": 156, "FLOAT16": 312}, 1555),
    "A100 80 GB": ({"TF32": 156, "FLOAT16": 312}, 2039),
    "RTX 3090": ({"TF32": 35.6, "FLOAT16": 71}, 936),
    "RTX 4090": ({"TF32": 82.6, "FLOAT16": 165}, 1008),
    "GTX 1080 Ti": ({"FLOAT32": 11.3}, 484),
}
TIMM = "pytorch-image-models, results/benchmark-train-amp-{}-pt112-cu113-rtx3090.csv"
DLE = "NVIDIA DeepLearningExamples, {}"
PYTORCH, TENSORFLOW = DLE.format("PyTorch 21.03"), DLE.format("TensorFlow 20.06 with XLA")
LAMBDA = "lambdal/deeplearning-benchmark"
CNN = "jcjohnson/cnn-benchmarks, cuDNN 5.1"
TORCHVISION = "sandeepkumar-skb/pytorch_experiments"
DDP = "pytorch/pytorch, benchmarks/distributed/ddp"


def timm(model, batch, last, first):
    return [(model, "RTX 3090", "FLOAT16", True, batch, last, TIMM.format("nhwc"))] + (
        [(model, "RTX 3090", "FLOAT16", False, batch, first, TIMM.format("nchw"))] if first else [])


# model, GPU, precision, channels last (None: default), batch, images/s, source
ROWS = [
    *timm("resnet50_torchvision", 512, 1219, 826), *timm("resnet101_torchvision", 256, 747, 566),
    *timm("resnext50_32x4d_torchvision", 384, 1001, 662), *timm("resnext101_32x8d_torchvision", 128, 312.8, 276.2),
    *timm("vgg16_torchvision", 384, 546, 465), *timm("mobilenet_v2_torchvision", 512, 2313, 1832),
    *timm("inception_v3_torchvision", 384, 782, 602), *timm("vit_b_16_torchvision", 192, 393, None),
    ("resnet50_torchvision", "V100", "FLOAT16", True, 256, 1200, PYTORCH),
    ("resnet50_torchvision", "V100", "FLOAT16", True, 128, 1154, TORCHVISION),
    ("resnet50_torchvision", "V100", "FLOAT16", False, 128, 841, TORCHVISION),
    ("resnet50_torchvision", "A100 80 GB", "FLOAT16", True, 256, 2470, PYTORCH),
    ("resnet50_torchvision", "A100 80 GB", "TF32", None, 256, 938, PYTORCH),
    ("resnet50_torchvision", "A100 80 GB", "TF32", None, 640, 1066, LAMBDA),
    ("resnet50_torchvision", "RTX 3090", "TF32", None, 224, 513, LAMBDA),
    ("resnet50_torchvision", "RTX 4090", "TF32", None, 224, 721, LAMBDA),
    ("resnet50_tf_official", "V100", "FLOAT16", None, 256, 1270, TENSORFLOW),
    ("resnet50_tf_official", "V100", "FLOAT32", None, 128, 412, TENSORFLOW),
    ("resnet50_tf_official", "A100 40 GB", "FLOAT16", None, 256, 2375, TENSORFLOW),
    ("resnet50_tf_official", "A100 40 GB", "TF32", None, 256, 909, TENSORFLOW),
    ("resnet50_torchvision", "V100", "FLOAT32", None, 128, 367, PYTORCH),
    ("resnet50_torchvision", "V100", "FLOAT32", None, 128, 374, TORCHVISION),
    ("resnet50_torchvision", "V100", "FLOAT32", None, 32, 328, DDP),
    ("resnet101_torchvision", "V100", "FLOAT32", None, 32, 197, DDP),
    ("resnext50_32x4d_torchvision", "V100", "FLOAT32", None, 32, 220, DDP),
    ("resnext101_32x8d_torchvision", "V100", "FLOAT32", None, 32, 77, DDP),
    ("resnet50_torchvision", "GTX 1080 Ti", "FLOAT32", None, 16, 158, CNN),
    ("resnet101_torchvision", "GTX 1080 Ti", "FLOAT32", None, 16, 104, CNN),
    ("vgg16_torchvision", "GTX 1080 Ti", "FLOAT32", None, 16, 125, CNN),
]
PRECISIONS = {"FLOAT32": "float32", "TF32": "TF32", "FLOAT16": "mixed"}


def machine(gpu):
    rates, memory = GPUS[gpu]
    flops = " ".join(f"flops {{ data_type: {name} tflops: {rate} }}" for name, rate in rates.items())
    return (f'name: "one"\ndevice {{ name: "gpu0" kind: GPU memory_gb_per_s: {0.88 * memory:.0f} {flops} }}\n'
            f'device {{ name: "cpu0" kind: CPU memory_gb_per_s: 100 }}\n'
            f'link {{ from: "cpu0" to: "gpu0" kind: PCIE generation: 3 latency_us: 0.5 }}\n')


def predict(tutti, row):
    model, gpu, precision, last, batch, _, _ = row
    layout = "" if last is None else f" channels_last: {str(last).lower()}"
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "one.textproto").write_text(machine(gpu))
        (folder / "s.textproto").write_text(
            f'cluster {{ workers {{ machine: "one.textproto" }} }}\n'
            f'workload {{ model: "{model}" batch: {batch} precision: {precision}{layout} }}\n'
            f"strategy {{ tensorflow {{ one_device {{ }} }} }}\nrun {{ steps: 2 }}\n")
        made = subprocess.run([tutti, "simulate", str(folder / "s.textproto"), "--format", "json"],
                              capture_output=True, text=True)
    if made.returncode != 0:
        sys.exit(f"{model} on {gpu}: {made.stderr}")
    return batch / (json.loads(made.stdout)["step_time_us"] / 1e6)


def table(tutti):
    lines = ["| model | GPU | precision | layout | batch | predicted images/s | published | error | source |",
             "|---|---|---|---|---:|---:|---:|---:|---|"]
    errors = []
    for row in ROWS:
        model, gpu, precision, last, batch, published, source = row
        made = predict(tutti, row)
        errors.append(abs(made / published - 1))
        layout = "default" if last is None else "NHWC" if last else "NCHW"
        lines.append(f"| {model} | {gpu} | {PRECISIONS[precision]} | {layout} | {batch} | {made:,.0f} | {published:,.0f} | "
                     f"{100 * (made / published - 1):+.0f} % | {source} |")
    errors.sort()
    return "\n".join(lines) + (f"\n\nThe median error is {100 * statistics.median(errors):.0f} %, and "
                               f"{sum(e <= 0.25 for e in errors)} of {len(errors)} rows have an error of at most 25 %.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tutti", default=str(ROOT / "build/release/bin/tutti"), help="the program (build/release/bin/tutti)")
    parser.add_argument("--write", type=pathlib.Path, help="page whose table is replaced")
    options = parser.parse_args()
    text = table(options.tutti)
    if not options.write:
        print(text)
        return
    replace_section(options.write, "convolution_times.py", text)


if __name__ == "__main__":
    main()
