#!/usr/bin/env python3
"""Checks that tests detect the mutants of tests/mutants/mutants.json.

Usage: tools/mutants.py --build build/ci [--only TEXT] [--ninja "ninja -j2"]

A mutant changes one place of the sources: an error is not reported, a comparison is reversed, or
another error code is returned. For each mutant, this script changes the source, rebuilds the test
program of the mutant, runs it, and restores the source. The mutant is killed if a test fails, and
survives if all tests pass. Exit status 1 if a mutant survives, does not compile, or does not apply
because its old text does not occur exactly once in the source.
"""

import argparse
import json
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def run(command, **options):
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)


def verdict(mutant, source, options):
    """Returns "killed by …", "does not compile", "survived", or why there is no result."""
    original = source.read_text()
    if original.count(mutant["old"]) != 1:
        return f"does not apply: the old text occurs {original.count(mutant['old'])} times"
    try:
        source.write_text(original.replace(mutant["old"], mutant["new"]))
        built = run(shlex.split(options.ninja) + ["-C", options.build, mutant["program"]])
        if built.returncode != 0:
            return "does not compile"
        program = [f"{options.build}/tests/{mutant['program']}", f"--gtest_filter={mutant.get('filter', '*')}"]
        tested = run(program)
        if tested.returncode == 0:
            return "survived"
        failed = [line.split()[3] for line in tested.stdout.splitlines() if line.startswith("[  FAILED  ] ") and "." in line]
        return "killed by " + (failed[0].rstrip(",") if failed else f"exit status {tested.returncode}")
    finally:
        source.write_text(original)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build/ci", help="the build folder")
    parser.add_argument("--ninja", default="ninja", help="the build command, such as \"ninja -j2\"")
    parser.add_argument("--only", default="", help="apply only mutants of files whose path contains this text")
    options = parser.parse_args()
    mutants = json.loads((ROOT / "tests/mutants/mutants.json").read_text())
    counts = {"killed": 0, "does not compile": 0, "survived": 0, "does not apply": 0}
    for mutant in mutants:
        if options.only not in mutant["file"]:
            continue
        result = verdict(mutant, ROOT / mutant["file"], options)
        counts[next(word for word in counts if result.startswith(word))] += 1
        print(f"{mutant['file']}: {mutant['what']}: {result}", flush=True)
    print(", ".join(f"{count} {word}" for word, count in counts.items()))
    return 1 if counts["survived"] or counts["does not apply"] or counts["does not compile"] else 0


if __name__ == "__main__":
    sys.exit(main())
