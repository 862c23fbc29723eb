#!/usr/bin/env bash
# The table of docs/validation.md that judges the tuner on 12 grids of which every point is known: prints Markdown.
set -euo pipefail
cd "$(dirname "$0")/.."

preset=${1:-release}
cmake --preset "$preset" >/dev/null
cmake --build --preset "$preset" --target explore_tests >/dev/null
TUTTI_TABLE=1 "build/$preset/tests/explore_tests" --gtest_filter='TunerGrids.*' | grep '^|'
