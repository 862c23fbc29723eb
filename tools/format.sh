#!/usr/bin/env bash
# Puts our C++ into the form of .clang-format. With --check only says whether it is (exit status 1 if not).
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t files < <(git ls-files --cached --others --exclude-standard '*.h' '*.cpp' '*.cu')
if [[ "${1:-}" == --check ]]; then
    clang-format --dry-run --Werror "${files[@]}"
    echo "format: ${#files[@]} files are as .clang-format wants them"
else
    clang-format -i "${files[@]}"
fi
