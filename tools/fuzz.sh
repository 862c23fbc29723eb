#!/usr/bin/env bash
# Runs every libFuzzer target for SECONDS seconds (default 60), starting from its corpus. Stops at
# the first finding, and writes its input to build/fuzz/findings. After the bug is fixed, the input
# belongs into tests/fuzz/corpus/TARGET.
#
#   tools/fuzz.sh [SECONDS [TARGET…]]
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-60}
TIMEFORMAT='%U %S' # user and system time in seconds, for the rate of inputs
# Storing longer call stacks of all allocations takes a sixth of the time. Replaying a finding
# without this setting shows them.
export ASAN_OPTIONS=${ASAN_OPTIONS:-malloc_context_size=6}
targets=("${@:2}")
if [ ${#targets[@]} -eq 0 ]; then
    for source in tests/fuzz/*_fuzz.cpp; do targets+=("$(basename "$source" _fuzz.cpp)"); done
fi

tools/install_packages.sh build test dev
cmake --preset fuzz
cmake --build --preset fuzz --target "${targets[@]/%/_fuzz}"
mkdir -p build/fuzz/findings
for target in "${targets[@]}"; do
    grown=build/fuzz/corpus/$target
    mkdir -p "$grown"
    options=(-max_len=65536)
    if [ "$target" = scenario ]; then
        # A dictionary with the names of the schema, so that the fuzzer need not guess them. Short
        # scenarios reach the same code as long ones, and are tried a hundred times as often.
        grep -ohE '[A-Za-z_]+ = [0-9]+;' core/proto/scenario.proto core/proto/machine.proto core/proto/framework/*.proto | awk '{print "\"" $1 "\""}' |
            sort -u >build/fuzz/scenario.dict
        # A scenario reaches thousands of features. Without -entropic=0, libFuzzer spends half of
        # the time on their statistics, and finds about the same number of features.
        options=(-max_len=2048 -dict=build/fuzz/scenario.dict -entropic=0)
    fi
    log=build/fuzz/$target.log
    if ! cpu=$({ time build/fuzz/tests/fuzz/"${target}"_fuzz -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 \
        -artifact_prefix="build/fuzz/findings/$target-" -print_final_stats=1 "${options[@]}" \
        "$grown" "tests/fuzz/corpus/$target" >"$log" 2>&1; } 2>&1); then
        grep -v NEW_FUNC "$log" | tail -n 60 >&2
        echo "$target: a finding; the input is in build/fuzz/findings" >&2
        exit 1
    fi
    inputs=$(awk '/number_of_executed_units/ {print $2}' "$log")
    echo "$target: $inputs inputs in $seconds s ($(awk -v inputs="$inputs" '{printf "%d", inputs / ($1 + $2)}' <<<"$cpu") per second of CPU time), no finding"
done
