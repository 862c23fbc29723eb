"""Replaces the section of a page that a script writes.

The section stands between the lines `<!-- tools/NAME.py -->` and `<!-- end of tools/NAME.py -->`.
"""

import pathlib


def replace_section(page, script, text):
    """Replaces the section of the script tools/`script` in the file `page`."""
    before, after = _around(page, script)
    pathlib.Path(page).write_text(before + text.strip() + after)


def has_section(page, script, text):
    """Returns true if the section of the script tools/`script` in the file `page` is `text`."""
    before, after = _around(page, script)
    return pathlib.Path(page).read_text() == before + text.strip() + after


def _around(page, script):
    """Returns the parts of the page before and after the section. Ends the program if the page has
    no such section."""
    begin, end = f"<!-- tools/{script} -->\n", f"\n<!-- end of tools/{script} -->"
    text = pathlib.Path(page).read_text()
    if begin not in text or end not in text:
        raise SystemExit(f"{script}: {page} has no lines {begin.strip()} and {end.strip()}")
    return text[: text.index(begin) + len(begin)], text[text.index(end) :]
