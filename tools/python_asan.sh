#!/usr/bin/env bash
# Runs the tests of the Python module with AddressSanitizer and UndefinedBehaviorSanitizer in the
# module's C++ code. Arguments are passed to pytest, such as -k sweep.
#
# The interpreter itself has no sanitizer, so the runtime of the sanitizer is preloaded. Leaks are
# not reported, because the interpreter does not free everything when it ends. Tests that start
# another interpreter are left out: that interpreter would also start the program tutti, which has a
# runtime of its own.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/install_packages.sh build dev python
cmake --preset asan-headless
cmake --build --preset asan-headless --target tutti tutti_python
python=$(sed -n 's/^_\?Python3_EXECUTABLE:[A-Z]*=//p' build/asan-headless/CMakeCache.txt | head -n 1)
runtime=$(clang++ -print-file-name="libclang_rt.asan-$(uname -m).so")
[[ -e $runtime ]] || { echo "python_asan.sh: clang's shared runtime of AddressSanitizer is missing ($runtime)" >&2; exit 2; }
exec env LD_PRELOAD="$runtime" ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
    PYTHONPATH=build/asan-headless/python PYTHONDONTWRITEBYTECODE=1 TUTTI_SOURCE_FOLDER="$PWD" \
    "${python:-/usr/bin/python3}" -m pytest -q -p no:cacheprovider tests/python -m "not starts_python" "$@"
