#!/usr/bin/env bash
# Measures time and peak memory of whole simulations, including the critical path, for growing
# numbers of ranks: an all-reduce of 256 MiB over CPU hosts, with every message simulated, and over
# up to a million GPUs, with one machine simulated on behalf of all. docs/performance.md has the
# results.
set -euo pipefail
cd "$(dirname "$0")/.."

tools/install_packages.sh build dev
cmake --preset release >/dev/null
cmake --build --preset release --target tutti >/dev/null
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

measure() { # MACHINE RANKS_PER_MACHINE WORKERS FOLD STRATEGY…
    local machine=$1 per_worker=$2 workers=$3 fold=$4 strategy=$5
    cat >"$work/scenario.textproto" <<END
cluster {
  workers { machine: "$machine" count: $workers }
  network { kind: ONE_SWITCH latency_us: 1 }
}
workload { variable { name: "w" shape: [67108864] } }
strategy { $strategy }
run { steps: 1 }
END
    command time -f "%U %M" -o "$work/cost" build/release/bin/tutti simulate "$work/scenario.textproto" --fold "$fold" \
        --remember "${remember:-auto}" --rows 0 >/dev/null 2>&1
    read -r seconds kib <"$work/cost"
    printf '%-18s %8d ranks  %7.2f CPU s  %6d MB\n' "$(cut -d'"' -f2 <<<"$strategy")" "$((workers * per_worker))" \
        "$seconds" "$((kib / 1000))"
}

echo "every message simulated:"
remember=off
for hosts in 64 256 1024 4096; do measure cpu-host 1 "$hosts" off 'algorithm: "ring"'; done
for hosts in 64 256 1024; do measure cpu-host 1 "$hosts" off "algorithm: \"pscpu\" shards: $hosts"; done
remember=auto
echo "one DGX A100 simulated on behalf of all:"
for machines in 128 8192 131072; do
    for algorithm in ring nccl/ring halving_doubling; do
        measure dgx-a100 8 "$machines" on "algorithm: \"$algorithm\""
    done
done
measure dgx-a100 8 131072 on 'algorithm: "nccl" channels: 2'
echo "NCCL, all workers simulated:"
measure dgx-a100 8 8192 off 'algorithm: "nccl"'
echo "trees:"
for machines in 128 1024; do
    for algorithm in double_tree nccl/double_tree; do
        measure dgx-a100 8 "$machines" auto "algorithm: \"$algorithm\""
    done
done
