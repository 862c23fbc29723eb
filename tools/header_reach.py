#!/usr/bin/env python3
"""Counts how many sources each header reaches.

    tools/header_reach.py            the 15 headers that reach the most sources
    tools/header_reach.py --all      all headers

A header reaches a source that includes it, directly or through other headers. A change of the header
compiles all these sources again, so a header that reaches many sources should change rarely. Only
the project's own headers and sources are counted, and headers that the build generates are not.
"""

import argparse
import collections
import pathlib
import re
import subprocess

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)


def main():
    parser = argparse.ArgumentParser(description="Counts how many sources each header reaches.")
    parser.add_argument("--all", action="store_true", help="list all headers")
    options = parser.parse_args()

    root = pathlib.Path(__file__).resolve().parent.parent
    listed = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, check=True, text=True).stdout
    names = [n for n in listed.splitlines() if n.endswith((".h", ".cpp", ".cu")) and (root / n).is_file()]
    known = set(names)
    included = {n: [i for i in INCLUDE.findall((root / n).read_text()) if i in known] for n in names}
    sources = [n for n in names if not n.endswith(".h")]
    reached = collections.Counter()
    total = 0
    for source in sources:
        seen = set()
        stack = list(included[source])
        while stack:
            header = stack.pop()
            if header not in seen:
                seen.add(header)
                stack += included[header]
        reached.update(seen)
        total += len(seen)
    for header, count in reached.most_common(None if options.all else 15):
        print(f"{count:6}  {header}")
    print(f"{len(sources):6}  sources, which include {total / len(sources):.1f} headers on average")


if __name__ == "__main__":
    main()
