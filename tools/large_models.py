#!/usr/bin/env python3
"""Compares predictions of large language models with published training throughputs.

    tools/large_models.py                                        # prints the table in Markdown
    tools/large_models.py --write docs/large-models.md           # replaces the table there
    tools/large_models.py --show "MPT 13B"                       # prints the scenario of a row

The computation follows from the dimensions of the model and the peak rate of the GPU. No parameter
is fitted to a row.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

from page_section import replace_section

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Transformer:
    def __init__(self, layers, hidden, heads, vocabulary, sequence, kv_heads=None, ffn=None, gated=False, tied=False):
        self.layers, self.hidden, self.heads = layers, hidden, heads
        self.vocabulary, self.sequence, self.tied, self.gated = vocabulary, sequence, tied, gated
        self.kv_heads, self.ffn = kv_heads or heads, ffn or 4 * hidden

    def block(self):
        keys = self.hidden // self.heads * self.kv_heads
        return self.hidden * (2 * self.hidden + 2 * keys + (3 if self.gated else 2) * self.ffn + 2)

    def parameters(self):
        return self.layers * self.block() + self.hidden * (self.vocabulary * (1 if self.tied else 2) + 1)

    def text(self):
        text = (f"layers: {self.layers} hidden: {self.hidden} heads: {self.heads} kv_heads: {self.kv_heads} ffn: {self.ffn}\n"
                f"    vocabulary: {self.vocabulary} sequence: {self.sequence}")
        return text + (" gated: true" if self.gated else "") + (" tied_embedding: true" if self.tied else "")


class Row:
    """A published throughput, and the training job for which it is predicted.

    `published`: the throughput, in tokens per second and GPU. `memory_gb_per_s`: the memory
    bandwidth of the GPU, which determines the time of the update.
    """

    def __init__(self, name, model, machine, nodes, link, batch, micro, recompute, published, source, memory_gb_per_s):
        self.name, self.model, self.machine, self.nodes, self.link = name, model, machine, nodes, link
        self.batch, self.micro, self.recompute = batch, micro, recompute
        self.published, self.source, self.memory = published, source, memory_gb_per_s

    def gpus(self):
        return 8 * self.nodes

    def update_ms(self):
        """Returns the time in which Adam updates the shard of a GPU.

        For each parameter, Adam moves 30 bytes: gradient, master weight and two moments in float32
        (28 bytes for reads and writes), and the 16-bit weight.
        """
        return self.model.parameters() / self.gpus() * 30 / self.memory / 1e6

    def scenario(self):
        network = f' network {{ kind: ONE_SWITCH link: "{self.link}" }}' if self.nodes > 1 else ""
        accumulation = f" micro_batches: {self.micro}" if self.micro > 1 else ""
        recompute = " recompute_activations: true" if self.recompute else ""
        return f"""cluster {{ workers {{ machine: "{self.machine}" count: {self.nodes} }}{network} }}
workload {{
  transformer {{
    {self.model.text()}
  }}
  batch: {self.batch}{accumulation}{recompute}
  update_ms: {self.update_ms():.3f}
}}
strategy {{
  algorithm: "nccl" collective: REDUCE_SCATTER reduction: MEAN pad_packs: true
  bytes_per_pack: {2 * self.model.block()}
}}
communicator {{
  name: "fsdp" size: {self.gpus()}
  exchange {{
    collective: ALL_GATHER bytes: {2 * self.model.block() // self.gpus() * self.gpus()} type: BFLOAT16
    per_forward: {self.model.layers} per_backward: {self.model.layers} overlaps: true
  }}
}}
run {{ steps: 3 }}
"""

    def predict(self, tutti):
        with tempfile.NamedTemporaryFile("w", suffix=".textproto") as file:
            file.write(self.scenario())
            file.flush()
            made = subprocess.run([tutti, "simulate", file.name, "--format", "json"], capture_output=True, text=True)
        if made.returncode != 0:
            sys.exit(f"{self.name}: {made.stderr}")
        seconds = json.loads(made.stdout)["step_time_us"] / 1e6
        return self.batch * self.micro * self.model.sequence / seconds


FOUNDRY = "MosaicML llm-foundry, scripts/train/benchmarking"
TITAN = "torchtitan, docs/performance.md"


def mpt(layers, hidden, heads):
    return Transformer(layers, hidden, heads, 50368, 2048, tied=True)


LLAMA3_8B = Transformer(32, 4096, 32, 128256, 8192, kv_heads=8, ffn=14336, gated=True)
LLAMA3_70B = Transformer(80, 8192, 64, 128256, 8192, kv_heads=8, ffn=28672, gated=True)
H100, A100_80 = 2948, 1794

ROWS = [
    Row("MPT 1B", mpt(24, 2048, 16), "hgx-h100", 1, "", 14, 1, False, 45455, FOUNDRY, H100),
    Row("MPT 3B", mpt(32, 2560, 20), "hgx-h100", 8, "ndr", 6, 3, False, 22525, FOUNDRY, H100),
    Row("MPT 13B", mpt(40, 5120, 40), "hgx-h100", 1, "", 2, 1, False, 4792, FOUNDRY, H100),
    Row("MPT 70B", mpt(80, 8192, 64), "hgx-h100", 8, "ndr", 8, 4, True, 1039, FOUNDRY, H100),
    Row("MPT 13B", mpt(40, 5120, 40), "dgx-a100", 1, "", 2, 3, False, 2262, FOUNDRY, A100_80),
    Row("MPT 70B", mpt(80, 8192, 64), "dgx-a100", 8, "roce-200", 8, 4, True, 410, FOUNDRY, A100_80),
    Row("Llama 3 8B", LLAMA3_8B, "dgx-a100", 8, "hdr", 1, 1, False, 2904, TITAN, A100_80),
    Row("Llama 3 70B", LLAMA3_70B, "dgx-a100", 8, "hdr", 1, 1, True, 331, TITAN, A100_80),
]


def table(tutti):
    lines = ["| model | GPUs | batch per GPU | activations | predicted tokens/s per GPU | published | error | source |",
             "|---|---|---|---|---:|---:|---:|---|"]
    for row in ROWS:
        made = row.predict(tutti)
        batch = str(row.batch) + (f" x {row.micro}" if row.micro > 1 else "")
        lines.append(f"| {row.name} | {row.gpus()} (`{row.machine}`) | {batch} | {'recomputed' if row.recompute else 'stored'} | "
                     f"{made:,.0f} | {row.published:,} | {100 * (made / row.published - 1):+.0f} % | {row.source} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tutti", default=str(ROOT / "build/release/bin/tutti"), help="the program (build/release/bin/tutti)")
    parser.add_argument("--write", type=pathlib.Path, help="page whose table is replaced")
    parser.add_argument("--show", help="print the scenario of the first row with this name")
    options = parser.parse_args()
    if options.show:
        print(next(row for row in ROWS if row.name == options.show).scenario(), end="")
        return
    text = table(options.tutti)
    if not options.write:
        print(text)
        return
    replace_section(options.write, "large_models.py", text)


if __name__ == "__main__":
    main()
