#!/usr/bin/env python3
"""Makes a notebook from a Python file in percent format: make_notebook.py NAME.py NAME.ipynb

A line "# %%" begins a cell of code. A line "# %% [markdown]" begins a cell of text, whose lines are
comments. The
Python file is the source; tests run it and compare the notebook with it.
"""

import json
import sys
from pathlib import Path


def cells_of(text: str) -> list[dict]:
    cells: list[dict] = []
    for part in text.split("# %%")[1:]:
        head, _, body = part.partition("\n")
        lines = body.strip("\n").split("\n")
        if head.strip() == "[markdown]":
            kind, lines = "markdown", [line.removeprefix("#").removeprefix(" ") for line in lines]
        else:
            kind = "code"
        cell = {
            "cell_type": kind,
            "id": f"cell-{len(cells)}",
            "metadata": {},
            "source": [line + "\n" for line in lines[:-1]] + [lines[-1]],
        }
        if kind == "code":
            cell.update(execution_count=None, outputs=[])
        cells.append(cell)
    return cells


def main() -> None:
    source, target = sys.argv[1:]
    notebook = {
        "cells": cells_of(Path(source).read_text(encoding="utf-8")),
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    Path(target).write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
