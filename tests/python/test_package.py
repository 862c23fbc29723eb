import inspect
import os
import shutil
import subprocess
import sys

import pytest

import tutti


def test_annotations_satisfy_mypy(source, tmp_path):
    if shutil.which("mypy") is None:
        pytest.skip("mypy is not installed")
    checked = subprocess.run(
        ["mypy", "--strict", f"--cache-dir={tmp_path}", f"--python-executable={sys.executable}", "-p", "tutti"],
        cwd=source / "tools" / "python", capture_output=True, text=True,
    )
    assert checked.returncode == 0, checked.stdout


def test_every_public_name_has_a_docstring():
    def missing(owner, name):
        return not (getattr(owner, name).__doc__ or "").strip()

    without = []
    for name in tutti.__all__:
        found = getattr(tutti, name)
        if not (isinstance(found, type) or inspect.isfunction(found)):
            continue  # values of the algorithm language, and the type alias Progress
        if missing(tutti, name):
            without.append(name)
        if isinstance(found, type):
            public = [member for member in vars(found) if not member.startswith("_")]
            without += [
                f"{name}.{member}"
                for member in public
                if (callable(getattr(found, member)) or isinstance(vars(found)[member], property))
                and missing(found, member)
            ]
    assert without == []


@pytest.mark.starts_python
def test_temporary_files_are_removed_when_python_ends(tmp_path, small):
    scenario = tmp_path / "small.textproto"
    scenario.write_text(small.to_text())
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    program = f"""
import os, tutti
from tutti import rank, ranks
scenario = tutti.load({str(scenario)!r})
sweep = scenario.sweep({{"strategy.bytes_per_pack": [4096, 8192]}})
algorithm = tutti.Algorithm("one", collective="all_gather", chunks=ranks)
with algorithm.lane():
    algorithm.send(algorithm.data[rank], to=rank + 1)
scenario.use(algorithm)
assert len(sweep) == 2 and os.path.exists(sweep.path) and os.path.exists(algorithm.path)
assert sweep.path.startswith({str(temporary)!r}) and algorithm.path.startswith({str(temporary)!r})
"""
    environment = {**os.environ, "TMPDIR": str(temporary)}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)
    assert list(temporary.iterdir()) == []
