#!/usr/bin/env python3
"""Counts the tokens of C++ without comments, by part of the sources.

    tools/count_tokens.py             one row for each part
    tools/count_tokens.py --folders   one row for each folder
    tools/count_tokens.py --files     one row for each file, the largest first

A token is a name, a number, a string, a character, or a punctuator such as `::` or `<<=`. Tokens of
preprocessor lines count, too. The number of tokens measures the amount of code; unlike the number of
lines, it does not depend on formatting.
"""

import argparse
import collections
import pathlib
import re
import subprocess

ENDINGS = (".h", ".cpp", ".cu", ".cuh", ".cpp.in")
SKIPPED = re.compile(r"//(?:[^\\\n]|\\.|\\\n)*|/\*.*?\*/|\\\n|\s+", re.S)
TOKEN = re.compile(
    r"""
      (?:u8|[uUL])?R"(?P<delimiter>[^()\\\s]*)\(.*?\)(?P=delimiter)"
    | (?:u8|[uUL])?"(?:[^"\\\n]|\\.)*"
    | (?:u8|[uUL])?'(?:[^'\\\n]|\\.)+'
    | \.?[0-9](?:'?[0-9A-Za-z_]|[eEpP][+-]|\.)*
    | [A-Za-z_]\w*
    | <=>|<<=|>>=|\.\.\.|->\*|::|->|\.\*|\+\+|--|<<|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\#\#
    | .
    """,
    re.S | re.X,
)


def count(text):
    """Returns the number of tokens in `text`."""
    tokens = 0
    at = 0
    while at < len(text):
        skipped = SKIPPED.match(text, at)
        if skipped:
            at = skipped.end()
            continue
        at = TOKEN.match(text, at).end()
        tokens += 1
    return tokens


def main():
    parser = argparse.ArgumentParser(description="Counts the tokens of C++ without comments.")
    by = parser.add_mutually_exclusive_group()
    by.add_argument("--folders", action="store_true", help="one row for each folder")
    by.add_argument("--files", action="store_true", help="one row for each file")
    options = parser.parse_args()

    root = pathlib.Path(__file__).resolve().parent.parent
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, check=True).stdout.decode()
    files = collections.Counter()
    tokens = collections.Counter()
    for name in filter(None, listed.split("\0")):
        path = root / name
        if not name.endswith(ENDINGS) or not path.is_file():
            continue
        row = name if options.files else str(pathlib.PurePath(name).parent) if options.folders else name.split("/")[0]
        files[row] += 1
        tokens[row] += count(path.read_text(encoding="utf-8"))
    rows = tokens.most_common() if options.files else sorted(tokens.items())
    for row, number in rows:
        print(f"{number:9,}  {files[row]:5}  {row}")
    print(f"{tokens.total():9,}  {files.total():5}  all")


main()
