#!/usr/bin/env bash
# Runs the benchmarks of the release build several times, and prints the medians. Arguments are
# passed to Google Benchmark:
#
#   tools/bench.sh --benchmark_filter=Ring
#   TUTTI_BENCH_TASKS=100000000 tools/bench.sh --benchmark_filter=Mapped   (3.7 GB in TMPDIR)
set -euo pipefail
cd "$(dirname "$0")/.."

tools/install_packages.sh build test
cmake --preset release -DBUILD_TESTING=ON >build/bench.log
cmake --build --preset release --target tutti_bench >>build/bench.log
build/release/tests/bench/tutti_bench --benchmark_repetitions=5 --benchmark_report_aggregates_only=true "$@" 2>&1 |
    grep -vE '_(mean|stddev|cv) '
