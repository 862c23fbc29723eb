#!/usr/bin/env bash
# Regenerates tests/reference/grids, the costs of all settings of 12 grids, with which the tuner is
# evaluated (tools/tuner_table.sh). Takes about ten minutes on 2 cores. After an interruption, the
# next run continues.
set -euo pipefail
cd "$(dirname "$0")/.."

source tools/release_program.sh
work=build/grids
mkdir -p "$work"
algorithms=strategy.algorithm=nccl,nccl/ring,nccl/halving_doubling,halving_doubling,recursive_doubling
# For each model: its name, the samples per GPU, and 128 pack sizes from 256 KiB to about the size
# of all gradients. The numbers of samples are small, so that computation hides little
# communication, and settings differ more.
models=("resnet50_torchvision 8 256KiB..104MiB*1.0484" "vgg16_torchvision 8 256KiB..560MiB*1.0623"
        "bert_large_tf 2 256KiB..1340MiB*1.0697" "gpt2_124m_torch 1 256KiB..500MiB*1.0614")
for gpus in 8 64 512; do
    for model in "${models[@]}"; do
        read -r name batch sizes <<<"$model"
        # On 512 GPUs, a point in which NCCL's rings are staged through host memory takes half a
        # minute. The grids of 512 GPUs therefore vary the time of updates instead of staging.
        second=strategy.staging=VIA_HOST,DIRECT
        ((gpus < 512)) || second=strategy.update=PER_PACK,AFTER_ALL
        over=("$algorithms" "$second" strategy.launch=CONCURRENT,SERIAL "strategy.bytes_per_pack=$sizes")
        arguments=()
        for axis in "${over[@]}"; do arguments+=(--over "$axis"); done
        grid=${name%%_*}_$gpus
        "$program" sweep "tests/reference/grids/${gpus}_gpus.textproto" --set "workload.model=$name" \
            --set "workload.batch=$batch" "${arguments[@]}" -o "$work/$grid.sweep" --csv "$work/$grid.csv" --rows 1
        {
            echo "# $name, batch $batch, ${gpus}_gpus.textproto: step times in ns by point, 16 a line; - where there is none"
            for axis in "${over[@]}"; do echo "# over: $axis"; done
            awk -F, 'NR > 1 { printf "%s%s", $6 == "done" ? sprintf("%.0f", $8 * 1000) : "-", (NR - 1) % 16 ? " " : "\n" }' "$work/$grid.csv"
        } >"tests/reference/grids/$grid.txt"
    done
done
