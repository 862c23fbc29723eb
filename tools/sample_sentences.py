#!/usr/bin/env python3
"""Draws random sentences from Tutti's texts, so that a reader can count those that are unclear.

    tools/sample_sentences.py                          # 100 sentences, the same number of each kind
    tools/sample_sentences.py -n 60 --seed 7 docs/models.md docs/networks.md
    tools/sample_sentences.py --kind messages --kind help
    tools/sample_sentences.py --fragments    # sentence fragments; status 1 if there are any

Kinds: `docs` (paragraphs, list entries and table cells of Markdown files), `headers` (///
docstrings of headers and the comments of .proto files), `comments` (all other comments of sources),
`fields` (/// comments behind members), `messages` (string literals of sources that read as
sentences), and `help` (string literals of the command line's options). The same seed draws the same
sentences from the same texts. Each line of the output is FILE:LINE and the sentence.
"""

import argparse
import pathlib
import random
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
KINDS = ("docs", "headers", "comments", "fields", "messages", "help")
SOURCES = {".cpp", ".h", ".cu", ".cc"}
MIN_WORDS = 5  # shorter texts are titles and labels

# Beginnings of sentence fragments, unless a question mark follows: "Of them", "What a step needs".
FRAGMENT = re.compile(r"(?:[Oo]f|[Ww]hat\w*|[Ww]hether|[Tt]hose|[Ww]ho(?:m|se|ever)?|Why|How)\b(?! (?:is|are|was) an? )")

# A sentence ends at . ! or ? if a space and a capital, digit, quote or bracket follow, but not after
# these abbreviations.
SENTENCE_END = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<! al\.)(?<!vs\.)(?<!cf\.)\s+(?=[A-Z0-9`*\"'(\[])")
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


def words(text):
    """Returns the words of a text, without code spans and names of files and functions."""
    return re.findall(r"(?<![\w./])[A-Za-z][a-z'-]+(?![\w/]|\.\w)", re.sub(r"`[^`]*`", "", text))


def sentences(line, text):
    """Yields pairs of line and sentence of a paragraph.

    `line`: the line of the file where the paragraph begins. `text`: the paragraph with line breaks.
    """
    start = 0
    ends = [m.span() for m in SENTENCE_END.finditer(text)] + [(len(text), len(text))]
    for end, following in ends:
        sentence = " ".join(text[start:end].split())
        if len(words(sentence)) >= MIN_WORDS:
            yield line + text.count("\n", 0, start), sentence
        start = following


def markdown_paragraphs(text):
    """Yields paragraphs, list entries and table cells, without code blocks, headings and rules."""
    fenced, begin, paragraph = False, 0, []

    def done():
        nonlocal paragraph
        if paragraph:
            yield begin, "\n".join(paragraph)
        paragraph = []

    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("```"):
            fenced = not fenced
            yield from done()
        elif fenced or not line.strip() or line.startswith(("#", "<!--", "![")):
            yield from done()
        elif not paragraph and re.match(r" {4,}\S", line):  # code
            pass
        elif line.startswith("|"):
            yield from done()
            for cell in re.split(r"(?<!\\)\|", line):
                yield number, cell.strip()
        else:
            entry = re.match(r"\s*(?:[-*]|\d+\.)\s+(.*)", line)
            if entry:
                yield from done()
            if not paragraph:
                begin = number
            paragraph.append(entry.group(1) if entry else line.strip())
    yield from done()


def comment_blocks(text, marker):
    begin, block = 0, []
    for number, line in enumerate(text.split("\n") + [""], 1):
        match = re.match(r"\s*" + marker + r"(?!/)(?:\s(.*)|$)", line)
        if match:
            if not block:
                begin = number
            block.append(match.group(1) or "")
        elif block:
            yield begin, "\n".join(block)
            block = []


def field_comments(text):
    """Yields the comments behind members, including their continuation lines."""
    begin, parts = 0, []
    for number, line in enumerate(text.split("\n") + [""], 1):
        match = re.match(r"(.*?)///<\s?(.*)", line)
        if parts and (not match or match.group(1).strip()):
            yield begin, "\n".join(parts)
            parts = []
        if match:
            if not parts:
                begin = number
            parts.append(match.group(2))


def string_literals(text):
    """Yields string literals, without includes, comments and single words.

    Adjacent literals, which the compiler concatenates, are one text.
    """
    code = re.sub(r"^[ \t]*(#include.*|//.*)$", "", text, flags=re.MULTILINE)
    end, begin, parts = -1, 0, []
    for match in STRING.finditer(code):
        if parts and code[end:match.start()].strip() == "":
            parts.append(match.group(1))
        else:
            if parts:
                yield begin, "".join(parts).replace("\\n", "\n")
            begin, parts = code.count("\n", 0, match.start()) + 1, [match.group(1)]
        end = match.end()
    if parts:
        yield begin, "".join(parts).replace("\\n", "\n")


def texts_of(path):
    """Yields triples of kind, line and text of a file; its name determines the kinds."""
    relative = path.relative_to(ROOT).as_posix()
    if path.suffix == ".md":
        yield from (("docs", line, text) for line, text in markdown_paragraphs(path.read_text()))
    elif path.suffix == ".proto":
        yield from (("headers", line, text) for line, text in comment_blocks(path.read_text(), "//"))
    elif path.suffix in SOURCES and not relative.startswith("tests/"):
        content = path.read_text()
        if path.suffix == ".h":
            yield from (("headers", line, text) for line, text in comment_blocks(content, "///"))
        else:
            yield from (("comments", line, text) for line, text in comment_blocks(content, "///"))
        yield from (("comments", line, text) for line, text in comment_blocks(content, "//"))
        yield from (("fields", line, text) for line, text in field_comments(content))
        kind = "help" if relative.startswith("tools/tutti/options/") else "messages"
        for line, text in string_literals(content):
            for piece, part in enumerate(text.split("\n")):
                yield kind, line if piece == 0 else line + piece, part


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", help="files or folders to draw from (default: everything)")
    parser.add_argument("-n", type=int, default=100, help="number of sentences (default 100)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the draw (default 0)")
    parser.add_argument("--kind", action="append", choices=KINDS, help="kind to draw from; may be repeated (default: all)")
    parser.add_argument("--fragments", action="store_true",
                        help="print all comments that begin like a fragment, and fail if there are any")
    o = parser.parse_args()
    if o.fragments and not o.kind:
        o.kind = ["headers", "comments", "fields"]

    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "--"]
                            + [str(pathlib.Path(p).resolve()) for p in o.paths],
                            cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    found = {kind: [] for kind in o.kind or KINDS}
    for name in sorted(filter(None, listed)):
        path = ROOT / name
        for kind, line, text in texts_of(path) if path.is_file() else ():
            if kind in found:
                found[kind] += [(name, at, sentence) for at, sentence in sentences(line, text)]

    if o.fragments:
        bad = [one for kind in found for one in found[kind] if FRAGMENT.match(one[2]) and not one[2].endswith("?")]
        for name, line, sentence in bad:
            print(f"{name}:{line}: {sentence}")
        return 1 if bad else 0

    # Every kind gets the same share. If a kind has too few sentences, the others get more.
    draw, left = random.Random(o.seed), o.n
    kinds = sorted((kind for kind in found if found[kind]), key=lambda kind: len(found[kind]))
    for index, kind in enumerate(kinds):
        share = min(len(found[kind]), -(-left // (len(kinds) - index)))
        left -= share
        for name, line, sentence in draw.sample(found[kind], share):
            print(f"{name}:{line}: {sentence}")


if __name__ == "__main__":
    sys.exit(main())
