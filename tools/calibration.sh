#!/usr/bin/env bash
# Reproduces the example of docs/calibration.md on this machine: simulates, runs, calibrates, and
# simulates again. Compares both predictions with a run that the calibration has not used.
#
#   tools/calibration.sh [TUTTI]        (default: build/release/bin/tutti)
set -euo pipefail
cd "$(dirname "$0")/.."

tutti=$(realpath "${1:-build/release/bin/tutti}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

"$tutti" init --machine cpu-host --nodes 2 -o two.textproto >/dev/null
"$tutti" simulate two.textproto --timeline predicted.tutti >/dev/null 2>&1
for i in 1 2 3; do "$tutti" run two.textproto --steps 6 --timeline real$i.tutti >/dev/null 2>&1; done
for i in 1 2 3; do "$tutti" perf two.textproto --backend tcp -b 1K -e 64M >perf$i.txt 2>/dev/null; done
"$tutti" calibrate two.textproto --run real?.tutti --log perf?.txt -o here.textproto
sed '/^cluster {/,/^}/c cluster { file: "here.textproto" }' two.textproto >calibrated.textproto
"$tutti" simulate calibrated.textproto --timeline calibrated.tutti >/dev/null 2>&1
"$tutti" run two.textproto --steps 6 --timeline fresh.tutti >/dev/null 2>&1
printf '\n=== the first prediction and a run that the calibration has not used\n'
"$tutti" compare predicted.tutti fresh.tutti
printf '\n=== the prediction with the calibrated cluster and the same run\n'
"$tutti" compare calibrated.tutti fresh.tutti
printf '\n=== a calibration that uses only the runs, not the tables of tutti perf\n'
"$tutti" calibrate two.textproto --run real?.tutti -o packs.textproto
sed '/^cluster {/,/^}/c cluster { file: "packs.textproto" }' two.textproto >packs_alone.textproto
"$tutti" simulate packs_alone.textproto --timeline packs_alone.tutti >/dev/null 2>&1
"$tutti" compare packs_alone.tutti fresh.tutti
