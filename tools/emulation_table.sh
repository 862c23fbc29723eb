#!/usr/bin/env bash
# Compares emulated runs with simulations: every algorithm, 2 to 8 workers, 1 and 10 Gb/s, a latency
# of 50 us, with and without overlapping computation. Emulated runs have real processes and
# messages, and verified results. Step times are in the scenario's time. Prints the table of
# docs/validation/real-runs.md. Takes one to two minutes on two cores.
#
#   tools/emulation_table.sh [PRESET] [SLOWDOWN]
set -euo pipefail
cd "$(dirname "$0")/.."

preset=${1:-release}
if [ "$preset" = release ]; then
    tools/install_packages.sh build
    cmake --preset release >/dev/null
    cmake --build --preset release --target tutti >/dev/null
fi
tutti=build/$preset/bin/tutti
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
slower=${2:+--time-scale $2}

# Workloads: `alone` has only two gradients, of 8 MB and 1.2 kB. `training` is a training step of
# MobileNet v2 (156 gradients of 14 MB in total, in packs).
alone='variable { name: "large" shape: 2000000 } variable { name: "small" shape: 300 } update_ms: 0'
training='model: "mobilenet_v2_keras" batch: 16'
packs='bytes_per_pack: 2000000'

value() { # JSON-FILE FIELD
    sed -n "s/^ \"$2\": \([0-9.e+-]*\),\$/\1/p" "$1" | head -1
}

row() { # ALGORITHM WORKERS MACHINE GB/S WORKLOAD STRATEGY
    cat >"$work/scenario.textproto" <<END
cluster {
  workers { machine: "${3%%:*}" count: $2 $([ "$3" = cpu-host ] || echo "replicas: ${3##*:}") }
  network { kind: ONE_SWITCH latency_us: 50 bandwidth_gb_per_s: $4 }
}
workload { ${!5} }
strategy { algorithm: "$1" $6 }
run { steps: 3 }
END
    "$tutti" simulate "$work/scenario.textproto" --interference off --nccl rings --format json >"$work/predicted.json"
    # shellcheck disable=SC2086 # two words or none
    "$tutti" run "$work/scenario.textproto" --emulate $slower --format json >"$work/emulated.json" 2>"$work/errors" || {
        cat "$work/errors" >&2
        exit 1
    }
    local scale
    scale=$(sed -n 's/.*tcp, \([0-9.e+]*\) times slower.*/\1/p' "$work/emulated.json" | head -1)
    printf '%s %s %s %s %s %s %s %s\n' "$1" "$2" "$3" "$4" "$5" "$scale" \
        "$(value "$work/predicted.json" step_time_us)" "$(value "$work/emulated.json" step_time_us)" |
        awk '{ printf "| %-21s | %d x %-13s | %5s Gb/s | %-8s | %8.2f ms | %8.2f ms | %+6.2f %% | %5s |\n",
               $1, $2, $3, $4 * 8, $5, $7 / 1000, $8 / 1000, ($8 / $7 - 1) * 100, $6 }' | tee -a "$work/table"
}

echo "| algorithm             | workers           | network    | workload |  simulated  |  emulated   | error    | slower |"
echo "|---|---|---|---|---:|---:|---:|---:|"
row ring 8 cpu-host 1.25 alone ''
row ring 4 cpu-host 0.125 training "$packs"
row ring 2 dgx1-v100:2 1.25 training "$packs"
row halving_doubling 8 cpu-host 1.25 alone ''
row recursive_doubling 4 cpu-host 1.25 training "$packs"
row pscpu 8 cpu-host 1.25 alone 'shards: 8'
row pscpu 3 cpu-host 0.125 training "$packs shards: 3"
row psgpu 4 dgx1-v100:1 1.25 alone 'shards: 4'
row nccl 2 dgx1-v100:2 1.25 alone ''
row nccl 4 dgx1-v100:1 0.125 training "$packs"
row nccl/ring 3 dgx1-v100:2 1.25 training "$packs"
row nccl/pscpu 4 dgx1-v100:2 1.25 training "$packs"
row nccl/halving_doubling 2 dgx1-v100:4 0.125 alone ''
row pscpu/pscpu 4 dgx1-v100:2 1.25 training "$packs"
row pscpu/pscpu 5 dgx1-v100:1 0.125 alone ''
row psgpu 2 dgx1-v100:2 1.25 training "$packs shards: 2"

awk -F'|' '{ gsub(/[ %+]/, "", $8); e = $8 < 0 ? -$8 : $8; print e }' "$work/table" | sort -g |
    awk '{ e[NR] = $1 } END { printf "\nerror of %d scenarios: median %.2f %%, worst %.2f %%\n", NR,
           NR % 2 ? e[(NR + 1) / 2] : (e[NR / 2] + e[NR / 2 + 1]) / 2, e[NR] }'
