import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import tutti
from tutti.commands import program

HAS_WINDOW = bool(program()) and (Path(program()).resolve().parent / "tutti-view").exists()
needs_window = pytest.mark.skipif(not HAS_WINDOW, reason="the window was not built (Qt 6)")


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """The folder for temporary files; other files of the user are there, too."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    for name, value in {"TMPDIR": folder, "XDG_CONFIG_HOME": tmp_path, "XDG_DATA_HOME": tmp_path}.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def timelines(folder):
    return sorted(path.name for path in folder.glob("**/*.tutti"))


@pytest.fixture
def display(monkeypatch):
    """A virtual X server, or Qt's platform without a display if Xvfb is not installed."""
    if shutil.which("Xvfb") is None:
        monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
        yield ""
        return
    reader, writer = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writer), "-screen", "0", "1280x800x24", "-nolisten", "tcp"],
        pass_fds=(writer,), stderr=subprocess.DEVNULL,
    )
    os.close(writer)
    name = ":" + os.fdopen(reader).readline().strip()
    monkeypatch.setenv("DISPLAY", name)
    monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)
    yield name
    server.terminate()
    server.wait()


@needs_window
def test_the_window_shows_a_result_until_it_is_closed(small, temporary, display):
    window = small.simulate(timeline=True).view()
    assert window.is_open and repr(window) == "<tutti.Window of small: open>"
    assert timelines(temporary) == ["small.tutti"]
    if display and shutil.which("xwininfo"):
        tree = subprocess.run(["xwininfo", "-root", "-tree"], capture_output=True, text=True, check=True)
        assert "small.tutti — Tutti" in tree.stdout
    assert not window.wait(0.1)
    window.close()
    assert not window.is_open and window.wait() and "closed" in repr(window)
    assert timelines(temporary) == [] and not list(temporary.glob("tutti-*"))
    window.close()


@pytest.mark.starts_python
@needs_window
def test_the_window_outlives_python(source, temporary, display):
    text = f"""
import tutti
window = tutti.load({str(source / "scenarios/01_two_ranks.textproto")!r}).simulate(timeline=True).view()
print(window._process.pid)
"""
    ran = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    pid = int(ran.stdout)
    os.kill(pid, 0)  # raises an exception if the process does not exist
    assert timelines(temporary) == ["01_two_ranks.tutti"]
    os.kill(pid, 15)
    until = time.monotonic() + 60
    while timelines(temporary) and time.monotonic() < until:
        time.sleep(0.02)
    assert timelines(temporary) == []


def test_without_a_display_the_error_names_what_works_without_one(small, temporary, monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(tutti.RequestError, match=r"DISPLAY is not set.*result\.svg\(\)"):
        small.simulate().view()
    assert list(temporary.iterdir()) == []


@needs_window
def test_a_display_that_cannot_be_opened_is_named(small, temporary, monkeypatch):
    monkeypatch.setenv("DISPLAY", ":54321")
    monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)
    with pytest.raises(tutti.RequestError, match="the display :54321 cannot be opened"):
        small.simulate().view()
    assert not list(temporary.glob("tutti-*"))


def test_a_missing_window_program_is_named(small, temporary, tmp_path, monkeypatch):
    monkeypatch.setenv("DISPLAY", ":1")
    monkeypatch.setenv("TUTTI_PROGRAM", str(tmp_path / "gone"))
    with pytest.raises(tutti.RequestError, match="gone cannot be started: No such file.*TUTTI_PROGRAM"):
        small.simulate().view()
    # A copy of the program in a folder without the window.
    copy = tmp_path / "tutti"
    shutil.copy(Path(program_of_the_build()).resolve(), copy)
    monkeypatch.setenv("TUTTI_PROGRAM", str(copy))
    with pytest.raises(tutti.RequestError, match="is not installed; install the package tutti-window"):
        small.simulate().view()
    assert not list(temporary.glob("tutti-*"))


def program_of_the_build():
    value = os.environ.pop("TUTTI_PROGRAM", None)
    try:
        return program()
    finally:
        if value is not None:
            os.environ["TUTTI_PROGRAM"] = value
