#!/usr/bin/env bash
# Regenerates the pictures of README and docs that `tutti export`, `tutti plan` and `tutti sweep`
# draw from shipped scenarios. tools/screenshots.sh regenerates those of the window.
set -euo pipefail
cd "$(dirname "$0")/.."

cmake --preset release >/dev/null
cmake --build --preset release --target tutti >/dev/null
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
for scenario in 04_resnet50_ring 05_resnet50_pscpu; do
    build/release/bin/tutti simulate "scenarios/$scenario.textproto" --timeline "$work/$scenario.tutti" >/dev/null
    build/release/bin/tutti export "$work/$scenario.tutti" --to svg -o "$work/$scenario.svg"
    mv "$work/$scenario.svg" "docs/pictures/$scenario.svg"
done
build/release/bin/tutti plan scenarios/13_tensor_parallel.textproto --graph "$work/graph.svg" >/dev/null
mv "$work/graph.svg" docs/pictures/13_tensor_parallel_graph.svg
sweep=tests/reference/workloads
build/release/bin/tutti sweep "$sweep/ddp_2_gpus.textproto" --over strategy.pytorch_ddp.bucket_cap_mb=3..25+1 -o "$work/ddp.sweep" \
    --plot "$work/ddp_buckets.svg" --measured "$sweep/ddp_bucket_sweep.csv" >/dev/null
mv "$work/ddp_buckets.svg" docs/pictures/ddp_buckets.svg
build/release/bin/tutti sweep "$sweep/nccl_fusion_1gbe.textproto" --over strategy.bytes_per_pack=1024..10240000*10 -o "$work/fusion.sweep" \
    --plot "$work/nccl_fusion.svg" --measured "$sweep/nccl_fusion_1gbe.csv" >/dev/null
mv "$work/nccl_fusion.svg" docs/pictures/nccl_fusion.svg
