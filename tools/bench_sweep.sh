#!/usr/bin/env bash
# Measures the time of a sweep with 10,016 points: ResNet-50 on 64 GPUs, with 626 pack sizes from 64
# KiB to a single pack, and 16 algorithms with their shards (docs/exploring.md). With `ranks N`,
# also runs the sweep by mpirun -n N, and checks that its rows equal those of one process.
set -euo pipefail
cd "$(dirname "$0")/.."

source tools/release_program.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/algorithms.csv" <<'END'
strategy.algorithm,strategy.shards
ring,
xring,
xring,2
xring,4
halving_doubling,
recursive_doubling,
double_tree,
pscpu,
pscpu,2
pscpu,4
psgpu,2
nccl,
nccl/ring,
nccl/halving_doubling,
nccl/pscpu,
pscpu/pscpu,
END
request=(sweep tests/reference/grids/64_gpus.textproto --points "$work/algorithms.csv"
    --over "strategy.bytes_per_pack=64KiB..104MiB*1.01194,0" --rows 1)
time "$program" "${request[@]}" -o "$work/one.sweep" --csv "$work/one.csv"
if [[ ${1:-} == ranks ]]; then
    time mpirun --allow-run-as-root --oversubscribe -n "$2" "$program" "${request[@]}" -o "$work/ranks.sweep" --csv "$work/ranks.csv" >/dev/null
    cmp "$work/one.csv" "$work/ranks.csv" && echo "both sweeps have the same $(($(wc -l <"$work/one.csv") - 1)) rows"
fi
