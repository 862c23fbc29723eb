#!/usr/bin/env bash
# From a fresh Debian 12 to a first result: installs what is missing, builds, predicts ResNet-50 on 16 GPUs by three
# strategies, and leaves a trace for ui.perfetto.dev. Run it again whenever you like; it only does what is left to do.
set -euo pipefail
cd "$(dirname "$0")/.."

tools/install_packages.sh build
echo "building (a few minutes the first time) …"
mkdir -p build
log=build/quickstart.log
if ! { cmake --preset release -DBUILD_TESTING=OFF && cmake --build --preset release; } >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    echo "the build failed; all of it is in $log" >&2
    exit 1
fi
grep -E '^-- (CUDA|NCCL|Window):' "$log" || true

tutti=build/release/bin/tutti
results=build/quickstart
mkdir -p "$results"
echo
"$tutti" simulate scenarios/06_resnet50_nccl.textproto --timeline "$results/resnet50_nccl.tutti" 2>/dev/null
"$tutti" export "$results/resnet50_nccl.tutti" --to perfetto 2>/dev/null
"$tutti" export "$results/resnet50_nccl.tutti" --to svg 2>/dev/null
echo
echo "The same step by three strategies:"
for scenario in 04_resnet50_ring 05_resnet50_pscpu 06_resnet50_nccl; do
    "$tutti" simulate "scenarios/$scenario.textproto" --rows 0 |
        awk -v name="$scenario" '/^step time/ {step = $3 " " $4} /exposed communication/ {exposed = $3 " " $4} END {printf "  %-20s step %-9s exposed communication %s\n", name, step, exposed}'
done
echo
echo "timeline   $results/resnet50_nccl.tutti"
echo "trace      $results/resnet50_nccl.perfetto-trace   (open it in https://ui.perfetto.dev)"
echo "picture    $results/resnet50_nccl.svg"
echo "program    $tutti --help"
