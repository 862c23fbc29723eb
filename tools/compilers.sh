#!/usr/bin/env bash
# Checks for warnings of other compilers. Each compiler checks the sources of this repository
# without generating code. Twelve sources at a time are checked as one unit, as in other builds;
# with SOURCES, each file is checked by itself, which takes four times as long. Exit status 1 if
# there is a warning.
#
#   tools/compilers.sh [COMPILER…]
#   SOURCES='real/*.cpp' tools/compilers.sh clang++-19    # only files of this git pattern
#
# The default compilers are g++-12, g++, clang++-14, clang++, clang++-16 and clang++-19, if they are
# installed.
set -euo pipefail
cd "$(dirname "$0")/.."

compilers=("$@")
if [ ${#compilers[@]} -eq 0 ]; then
    for name in g++-12 g++ clang++-14 clang++ clang++-16 clang++-19; do
        command -v "$name" >/dev/null || continue
        # Keep one name per compiler.
        version=$("$name" --version | head -n 1)
        [[ "${seen:-}" == *"$version"* ]] || compilers+=("$name")
        seen+="$version"
    done
fi
status=0
for compiler in "${compilers[@]}"; do
    folder=build/compilers/$compiler
    mkdir -p "$folder"
    # Without precompiled headers, which only one compiler can read.
    unity=ON
    [ -z "${SOURCES:-}" ] || unity=OFF
    cmake -S . -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_CXX_COMPILER_LAUNCHER= \
        -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DCMAKE_UNITY_BUILD=$unity -DCMAKE_UNITY_BUILD_BATCH_SIZE=12 -DTUTTI_WINDOW="${TUTTI_WINDOW:-OFF}" >"$folder/configure.log"
    # All sources that the build generates, with their headers.
    python3 -c '
import json, os, subprocess, sys
folder = os.path.abspath(sys.argv[1])
files = {entry["file"] for entry in json.load(open(folder + "/compile_commands.json"))}
files = {os.path.relpath(name, folder) for name in files if name.startswith(folder + "/") and "/Unity/" not in name}
# Files that the configuration has written are no targets of ninja.
targets = subprocess.run(["ninja", "-C", folder, "-t", "targets", "all"], capture_output=True, text=True, check=True).stdout
files &= {line.rpartition(": ")[0] for line in targets.splitlines()}
print(*sorted(files), sep="\0", end="")
' "$folder" | xargs -0 ninja -C "$folder" >/dev/null
    git ls-files "${SOURCES:-*.cpp}" | python3 -c '
import json, shlex, sys
wanted = {line.strip() for line in sys.stdin}
for entry in json.load(open(sys.argv[1])):
    name = entry["file"].removeprefix(sys.argv[2] + "/")
    if name not in wanted and "/Unity/" not in name:
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
    echo "$compiler ($("$compiler" --version | head -n 1)): $(wc -l <"$folder/commands") units, $found warnings, $((SECONDS - began)) s"
    if [ "$found" -gt 0 ]; then
        grep -E '(warning|error):' "$folder/warnings" | sort -u | head -n 20
        status=1
    fi
done
exit $status
