#!/usr/bin/env bash
# Formats the C++ sources by .clang-format. With --check, only checks their format (exit status 1 if
# a file is not formatted).
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t files < <(git ls-files --cached --others --exclude-standard '*.h' '*.cpp' '*.cu')
if [[ "${1:-}" == --check ]]; then
    clang-format --dry-run --Werror "${files[@]}"
    echo "format: ${#files[@]} files have the format of .clang-format"
else
    clang-format -i "${files[@]}"
fi
