#!/usr/bin/env bash
# Installs what is missing, builds and runs all tests. An argument names another preset of CMakePresets.json
# (default: release); what follows it goes to ctest.
set -euo pipefail
cd "$(dirname "$0")/.."

preset=${1:-release}
groups=(build test)
case $preset in asan* | tsan) groups+=(dev) ;; esac  # their compiler is clang
tools/install_packages.sh "${groups[@]}"
cmake --preset "$preset" -DBUILD_TESTING=ON
cmake --build --preset "$preset"
ctest --preset "$preset" --parallel "$(nproc)" "${@:2}"
