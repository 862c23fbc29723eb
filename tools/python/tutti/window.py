"""Opens the window (`tutti view`) from Python."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Optional

from .commands import program
from .errors import Problem, RequestError, RunError

if TYPE_CHECKING:
    from .result import Result


class Window:
    """An open window. It stays open when Python ends."""

    def __init__(self, process: "subprocess.Popen[bytes]", title: str) -> None:
        self._process = process
        self._title = title

    @property
    def is_open(self) -> bool:
        """True until the user or `close()` has closed the window."""
        return self._process.poll() is None

    def close(self) -> None:
        """Closes the window, if it is still open, and waits until it is closed."""
        if self.is_open:
            self._process.terminate()
        self._process.wait()

    def wait(self, timeout: Optional[float] = None) -> bool:
        """Waits at most `timeout` seconds (default: forever) until the window is closed.

        Returns True if it is closed.
        """
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            return False
        return True

    def __repr__(self) -> str:
        return f"<tutti.Window of {self._title}: {'open' if self.is_open else 'closed'}>"


def open_window(result: "Result") -> Window:
    """Opens a result in the window, and returns as soon as the window shows it.

    The timeline is written to a temporary file, which the window deletes when it closes.
    """
    found = program()
    if not found:
        raise RequestError([Problem("no tutti program is installed; set TUTTI_PROGRAM to its path")])
    if not any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")):
        raise RequestError([Problem(
            "there is no display for the window (DISPLAY is not set); result.svg() and "
            "result.export() draw pictures without a display, and result.save() writes a timeline "
            "for tutti view on another machine"
        )])
    title = Path(result.scenario).name or "timeline"
    folder = tempfile.mkdtemp(prefix="tutti-")
    process = None
    try:
        path = Path(folder) / f"{title}.tutti"
        result.save(path)
        with tempfile.TemporaryFile() as messages:
            reader, writer = os.pipe()
            try:
                # The window is not in Python's process group, so Ctrl-C, which interrupts Python or
                # the kernel of a notebook, does not close the window.
                process = subprocess.Popen(
                    [found, "view", str(path), "--delete-file", "--opened-fd", str(writer)],
                    pass_fds=(writer,), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                    stderr=messages, start_new_session=True,
                )
            except OSError as error:
                text = f"{found} cannot be started: {error.strerror}; set TUTTI_PROGRAM to the path of tutti"
                raise RequestError([Problem(text)]) from error
            finally:
                os.close(writer)
            try:
                opened = os.read(reader, 1)
            finally:
                os.close(reader)
            if opened:
                return Window(process, title)
            status = process.wait()
            messages.seek(0)
            text = messages.read().decode("utf-8", "replace").strip().removeprefix("tutti: ")
    except BaseException:
        if process is not None:
            process.terminate()
            process.wait()
        shutil.rmtree(folder, ignore_errors=True)
        raise
    shutil.rmtree(folder, ignore_errors=True)
    problem = Problem(text or f"the window ended before it was open (exit status {status})")
    raise RequestError([problem]) if status == 2 else RunError([problem])
