#!/usr/bin/env bash
# Prints the Markdown table of docs/validation/strategies.md, which evaluates the tuner on 12 grids
# with known costs of all points.
set -euo pipefail
cd "$(dirname "$0")/.."

preset=${1:-release}
cmake --preset "$preset" >/dev/null
cmake --build --preset "$preset" --target explore_tests >/dev/null
TUTTI_TABLE=1 "build/$preset/tests/explore_tests" --gtest_filter='TunerGrids.*' | grep '^|'
