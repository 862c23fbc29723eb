#!/usr/bin/env bash
# Installs missing packages, and builds and runs all tests. The first argument is a preset of
# CMakePresets.json (default: release). All further arguments are passed to ctest.
set -euo pipefail
cd "$(dirname "$0")/.."

preset=${1:-release}
groups=(build test)
case $preset in asan* | tsan) groups+=(dev) ;; esac  # these presets use clang
tools/install_packages.sh "${groups[@]}"
cmake --preset "$preset" -DBUILD_TESTING=ON
cmake --build --preset "$preset"
# Some tests mostly wait for processes and timeouts, so one more test than cores runs in parallel.
ctest --preset "$preset" --parallel "$(($(nproc) + 1))" "${@:2}"
