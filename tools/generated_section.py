"""Replaces the part of a page of documentation that a tool writes."""

import pathlib
import sys


def replace_section(page: pathlib.Path, tool: str, text: str) -> None:
    """Replaces the lines between the comments that name `tool`. Exits if the page has no such comments."""
    begin, end = f"<!-- {tool} -->", f"<!-- end of {tool} -->"
    old = page.read_text()
    if begin not in old or end not in old:
        sys.exit(f"{tool}: {page} has no lines {begin} and {end}")
    page.write_text(old[:old.index(begin)] + begin + "\n" + text + "\n" + old[old.index(end):])
