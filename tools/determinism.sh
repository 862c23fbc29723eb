#!/usr/bin/env bash
# Checks that predictions do not depend on the compiler, its optimization level, the processor or the
# number of threads. Builds the command with each of these compilers and levels, simulates the shipped
# scenarios with each build, and compares the timelines byte by byte. Also compares the results of a
# sweep with 1 to 4 threads. Exit status 1 if anything differs.
#
#   tools/determinism.sh                              gcc and clang, -O0 to -O3; arm64, -O2
#   tools/determinism.sh g++:-O0 clang++:-O2          only these
#   REFERENCE=build/ci/bin/tutti tools/determinism.sh clang++:-O2      compare with an existing build
#   SCENARIOS='scenarios/0[1-3]_*' tools/determinism.sh g++:-O2 aarch64-linux-gnu-g++:-O2     only these scenarios
#
# A build takes about ten minutes of processor time; existing builds are brought up to date. Scenarios
# that take longer than LIMIT seconds (default 300) with a build are skipped for all builds, and listed.
# Programs for arm64 run under qemu-user, about ten times slower (tools/arm64_sysroot.sh). They are
# compared if the cross compiler and qemu-user are installed.
set -euo pipefail
cd "$(dirname "$0")/.."

configurations=("$@")
if ((${#configurations[@]} == 0)); then
    for compiler in g++ clang++; do
        command -v "$compiler" >/dev/null || continue
        configurations+=("$compiler:-O0" "$compiler:-O1" "$compiler:-O2" "$compiler:-O3")
    done
    if command -v aarch64-linux-gnu-g++ >/dev/null && command -v qemu-aarch64 >/dev/null; then
        configurations+=(aarch64-linux-gnu-g++:-O2)
    fi
fi

folder=build/determinism
mkdir -p "$folder"
programs=()
[[ -z "${REFERENCE:-}" ]] || programs+=("$REFERENCE")
for configuration in "${configurations[@]}"; do
    compiler=${configuration%%:*}
    level=${configuration#*:}
    build=$folder/${compiler//+/p}$level
    echo "building with $compiler $level"
    toolchain=(-DCMAKE_CXX_COMPILER="$compiler")
    if [[ $compiler == aarch64-* ]]; then
        tools/arm64_sysroot.sh build/arm64
        toolchain=(-DCMAKE_TOOLCHAIN_FILE="$PWD/build/arm64/toolchain.cmake" -DTUTTI_CUDA=OFF)
    fi
    # Without precompiled headers, because gcc 12 does not compile intrinsics in them correctly at -O0.
    cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=None "${toolchain[@]}" -DCMAKE_CXX_FLAGS="$level" \
        -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=12 -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DBUILD_TESTING=OFF -DTUTTI_WINDOW=OFF \
        -DTUTTI_BENCHMARKS=OFF >"$build.log" || { cat "$build.log" >&2; exit 1; }
    cmake --build "$build" --target tutti >>"$build.log" || { tail -n 40 "$build.log" >&2; exit 1; }
    program=$build/bin/tutti
    if [[ $compiler == aarch64-* ]]; then
        program=$build/bin/tutti-under-qemu
        printf '#!/bin/sh\nexec %s %s "$@"\n' "$PWD/build/arm64/run" "$PWD/$build/bin/tutti" >"$program"
        chmod +x "$program"
    fi
    programs+=("$program")
done

status=0
compared=0
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
digest() { sha256sum | cut -d' ' -f1; }
for scenario in ${SCENARIOS:-scenarios/*.textproto}; do
    first=""
    for program in "${programs[@]}"; do
        code=0
        timeout "${LIMIT:-300}" "$program" simulate "$scenario" --steps 3 --record steps \
            --timeline "$results/t.tutti" >"$results/out" 2>"$results/err" || code=$?
        if ((code == 124)); then
            echo "skipped: $scenario takes more than ${LIMIT:-300} s with $program"
            break
        fi
        # Scenarios that cannot be simulated must fail in the same way.
        sum=$code-$({ cat "$results/out" "$results/err" "$results"/t.tutti* 2>/dev/null || true; } | digest)
        [[ -n "$first" ]] || ((code == 0)) || echo "note: the simulation of $scenario fails, so only its error messages are compared"
        rm -f "$results"/t.tutti*
        first=${first:-$sum}
        if [[ "$sum" != "$first" ]]; then
            echo "DIFFERS: the timelines of $scenario by $program and ${programs[0]}"
            status=1
        fi
        compared=$((compared + 1))
    done
done
echo "compared $compared timelines of ${#programs[@]} programs"

sweep=(scenarios/02_eight_hosts_ring.textproto --over "strategy.shards=1,2,4" --over "run.seed=1..8+1" --format json)
first=""
for program in "${programs[@]}"; do
    for threads in 1 2 3 4; do
        "$program" sweep "${sweep[@]}" --threads "$threads" -o "$results/s$threads.sweep" --csv "$results/s.csv" >/dev/null 2>"$results/err" ||
            { cat "$results/err" >&2; exit 1; }
        sum=$(digest <"$results/s.csv")
        rm -f "$results"/s*
        first=${first:-$sum}
        if [[ "$sum" != "$first" ]]; then
            echo "DIFFERS: a sweep with $threads threads by $program"
            status=1
        fi
    done
done
echo "compared sweeps with 1 to 4 threads"
exit $status
