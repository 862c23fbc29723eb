#!/usr/bin/env bash
# Looks for warnings of other compilers: each source of ours is read by each compiler, without generating code (a quarter of the
# time of a build). Status 1 if one of them warns.
#
#   tools/compilers.sh [COMPILER…]       # default: those of g++-12 g++ clang++-14 clang++-16 clang++-19 that are installed
#   SOURCES='real/*.cpp' tools/compilers.sh clang++-19       # only these (a pattern of git ls-files)
set -euo pipefail
cd "$(dirname "$0")/.."

compilers=("$@")
if [ ${#compilers[@]} -eq 0 ]; then
    for name in g++-12 g++ clang++-14 clang++ clang++-16 clang++-19; do
        command -v "$name" >/dev/null || continue
        # One name of each.
        version=$("$name" --version | head -n 1)
        [[ "${seen:-}" == *"$version"* ]] || compilers+=("$name")
        seen+="$version"
    done
fi
status=0
for compiler in "${compilers[@]}"; do
    folder=build/compilers/$compiler
    mkdir -p "$folder"
    # Each file by itself, and without precompiled headers, which belong to one compiler.
    cmake -S . -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_CXX_COMPILER_LAUNCHER= \
        -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DTUTTI_WINDOW="${TUTTI_WINDOW:-OFF}" >"$folder/configure.log"
    cmake --build "$folder" --target tutti_proto tutti_real_proto >/dev/null
    git ls-files "${SOURCES:-*.cpp}" | python3 -c '
import json, shlex, sys
wanted = {line.strip() for line in sys.stdin}
for entry in json.load(open(sys.argv[1])):
    name = entry["file"].removeprefix(sys.argv[2] + "/")
    if name not in wanted:
        continue
    wanted.discard(name)
    words = shlex.split(entry["command"])
    kept, skip = [], False
    for word in words:
        if skip or word in ("-o", "-c", "-MF", "-MT"):
            skip = word in ("-o", "-MF", "-MT") and not skip
        elif word != "-MD":
            kept.append(word)
    print(shlex.join(kept + ["-fsyntax-only"]))
' "$folder/compile_commands.json" "$PWD" >"$folder/commands"
    began=$SECONDS
    (cd "$folder" && xargs -a commands -d '\n' -P "$(nproc)" -I{} sh -c '{} 2>&1 || true' >warnings)
    found=$(grep -cE '(warning|error):' "$folder/warnings" || true)
    echo "$compiler ($("$compiler" --version | head -n 1)): $(wc -l <"$folder/commands") files, $found warnings, $((SECONDS - began)) s"
    if [ "$found" -gt 0 ]; then
        grep -E '(warning|error):' "$folder/warnings" | sort -u | head -n 20
        status=1
    fi
done
exit $status
