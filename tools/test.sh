#!/usr/bin/env bash
# Installs what is missing, builds and runs all tests. An argument names another preset of CMakePresets.json
# (default: release); what follows it goes to ctest.
set -euo pipefail
cd "$(dirname "$0")/.."

preset=${1:-release}
tools/install_packages.sh build test
cmake --preset "$preset" -DBUILD_TESTING=ON
cmake --build --preset "$preset"
ctest --preset "$preset" --parallel "$(nproc)" "${@:2}"
