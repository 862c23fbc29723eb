"""Runs the Python version of each notebook in docs/notebooks, and compares the cells of both."""

import json
import runpy
import subprocess
import sys

import pytest

import tutti

NAMES = ["tuning_buckets", "own_algorithm", "calibrating"]


@pytest.mark.parametrize("name", NAMES)
def test_python_sources_of_notebooks_run(name, source, tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(source / "docs" / "notebooks" / f"{name}.py"))


@pytest.mark.parametrize("name", NAMES)
def test_notebooks_match_their_python_sources(name, source, tmp_path):
    folder = source / "docs" / "notebooks"
    made = tmp_path / f"{name}.ipynb"
    script = folder / "make_notebook.py"
    subprocess.run([sys.executable, script, folder / f"{name}.py", made], check=True)
    assert json.loads(made.read_text()) == json.loads((folder / f"{name}.ipynb").read_text())
