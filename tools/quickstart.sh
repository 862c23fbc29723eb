#!/usr/bin/env bash
# Produces a first result on a fresh Debian 12. Installs missing packages, builds the program
# without the window and the GPU modules, predicts ResNet-50 on 16 GPUs with three strategies, and
# writes a trace for ui.perfetto.dev. It can be run again, and then skips the parts that are up to
# date.
set -euo pipefail
cd "$(dirname "$0")/.."

# Shows the progress of Ninja from its output: on a terminal, a line that is updated; elsewhere, one
# line per 10 %.
show_progress() {
    local line percent tenth=-1
    while IFS= read -r line; do
        [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] || continue
        percent=$((100 * BASH_REMATCH[1] / BASH_REMATCH[2]))
        if [[ -t 1 ]]; then
            printf '\r  %3d %%  %d of %d files' "$percent" "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
        elif ((percent / 10 > tenth)); then
            tenth=$((percent / 10))
            printf '  %3d %%  %d of %d files\n' "$percent" "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
        fi
    done
    if [[ -t 1 ]]; then echo; fi
}

failed() {
    tail -n 40 "$log" >&2
    echo "the build failed; its complete output is in $log" >&2
    exit 1
}

tools/install_packages.sh build
mkdir -p build
log=build/quickstart.log
echo "configuring …"
cmake --preset release -DTUTTI_WINDOW=OFF -DBUILD_TESTING=OFF >"$log" 2>&1 || failed
echo "building (ten to twelve minutes of processor time the first time; $log has the details) …"
cmake --build --preset release --target tutti 2>&1 | tee -a "$log" | show_progress || failed

tutti=build/release/bin/tutti
results=build/quickstart
mkdir -p "$results"
echo
"$tutti" simulate scenarios/06_resnet50_nccl.textproto --timeline "$results/resnet50_nccl.tutti" 2>/dev/null
"$tutti" export "$results/resnet50_nccl.tutti" --to perfetto 2>/dev/null
"$tutti" export "$results/resnet50_nccl.tutti" --to svg 2>/dev/null
echo
echo "The same training step with three strategies:"
for scenario in 04_resnet50_ring 05_resnet50_pscpu 06_resnet50_nccl; do
    "$tutti" simulate "scenarios/$scenario.textproto" --rows 0 |
        awk -v name="$scenario" '/^step time/ {step = $3 " " $4} /exposed communication/ {exposed = $3 " " $4} END {printf "  %-20s step %-9s exposed communication %s\n", name, step, exposed}'
done
echo
echo "timeline   $results/resnet50_nccl.tutti"
echo "trace      $results/resnet50_nccl.perfetto-trace   (open it in https://ui.perfetto.dev)"
echo "picture    $results/resnet50_nccl.svg"
echo "program    $tutti --help"
printf 'time       %d min %02d s since the start of this script\n' $((SECONDS / 60)) $((SECONDS % 60))
echo "the rest   cmake --preset release && cmake --build --preset release   (builds the window if Qt 6 is installed, and the modules for GPUs)"
