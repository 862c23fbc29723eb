#!/usr/bin/env bash
# Time and peak memory of whole runs as the number of ranks grows: one all-reduce of 256 MiB over CPU hosts, every
# message simulated, the critical path followed. Figures of docs/performance.md.
set -euo pipefail
cd "$(dirname "$0")/.."

tools/install_packages.sh build dev
cmake --preset release >/dev/null
cmake --build --preset release --target tutti >/dev/null
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

measure() { # ALGORITHM RANKS STRATEGY
    cat >"$work/scenario.textproto" <<END
cluster {
  workers { machine: "cpu-host" count: $2 }
  network { kind: ONE_SWITCH latency_us: 1 }
}
workload { variable { name: "w" shape: [67108864] } }
strategy { $3 }
run { steps: 1 }
END
    command time -f "%U %M" -o "$work/cost" build/release/bin/tutti simulate "$work/scenario.textproto" --rows 0 >/dev/null 2>&1
    read -r seconds kib <"$work/cost"
    printf '%-6s %5d ranks  %7.2f CPU s  %6d MB\n' "$1" "$2" "$seconds" "$((kib / 1000))"
}

for ranks in 64 256 1024 4096; do measure ring "$ranks" 'algorithm: "ring"'; done
for ranks in 64 256 1024; do measure pscpu "$ranks" "algorithm: \"pscpu\" shards: $ranks"; done
