"""Calls the commands of `tutti` in this process."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import shutil
import sys
import tempfile
from numbers import Real
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator, Mapping, Optional, Sequence, Union

from . import _core
from .errors import Error, Interrupted, Problem, RequestError, error_of, option_name

#: `progress=`: True shows a bar (tqdm's, if it is installed); a callable gets the name of the work
#: and the completed share, 0 … 1; None shows nothing.
Progress = Union[None, bool, Callable[[str, float], None]]


def data_folder() -> str:
    """Returns the folder with the shipped machines, links, models and algorithms."""
    packaged = Path(__file__).parent / "data"  # the data of a wheel
    if "TUTTI_DATA" not in os.environ and (packaged / "machines").is_dir():
        return str(packaged)
    return _core.library_folder()


def scratch_folder() -> Path:
    """Creates a new temporary folder, which is removed when Python ends."""
    folder = tempfile.mkdtemp(prefix="tutti-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def program() -> str:
    """Returns the path of the `tutti` program, from which real runs start their workers.

    It is the value of TUTTI_PROGRAM, or else the program of the build tree or installation of this
    package, or else the first one in PATH.
    """
    named = os.environ.get("TUTTI_PROGRAM")
    if named:
        return named
    here = Path(__file__).absolute().parent
    for candidate in (here.parent.parent / "bin" / "tutti", Path(sys.prefix) / "bin" / "tutti"):
        if candidate.is_file():
            return str(candidate)
    return shutil.which("tutti") or ""


def valid_text(text: str, what: str = "text") -> str:
    """Returns the text. Raises RequestError if it has a NUL character or cannot be written in UTF-8.

    Python stores bytes of file names that are not valid UTF-8 as surrogates.
    """
    if "\0" in text:
        raise RequestError([Problem(f"this {what} has a NUL character: {text[:60]!r}", code="syntax")])
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        message = f"this {what} has characters that UTF-8 cannot represent: {text[:60]!r}"
        raise RequestError([Problem(message, code="syntax")]) from error
    return text


def file_name(path: Any, expected: str = "the path of a file") -> str:
    """Returns a path as text. Raises RequestError if the value cannot be a path."""
    try:
        name = os.fsdecode(path)
    except TypeError:
        text = f"expected {expected}, found a value of type {type(path).__name__}"
        raise RequestError([Problem(text, code="wrong-type")]) from None
    valid_text(name, "path")
    if not name:
        raise RequestError([Problem("the path is empty; name a file", code="missing")])
    return name


def words_of(options: Mapping[str, Any]) -> list[str]:
    """Converts keyword arguments, such as `seed=1, lane_steps=True, run=[a, b]`, to a command line.

    None and False omit the option, True is a flag, a list repeats the option, and a mapping
    (`set={"strategy.shards": 4}`) becomes FIELD=VALUE.
    """
    words: list[str] = []
    for keyword, value in options.items():
        option = option_name(keyword)
        if option == "--format":
            text = "format is not an option in Python, because every report is a dictionary; remove format="
            raise RequestError([Problem(text, code="unknown-name", field=keyword)])
        if value is None or value is False:
            continue
        if value is True:
            words.append(option)
        elif isinstance(value, Mapping):
            for field, one in value.items():
                words += [option, f"{field}={plain(one)}"]
        elif isinstance(value, (list, tuple)):
            for one in value:
                words += [option, plain(one)]
        else:
            words += [option, plain(value)]
    return words


def plain(value: Any, depth: int = 0) -> str:
    """Returns a value in the notation of the command line and of scenarios; for None, an empty text.

    `depth`: the number of lists that contain the value. A list that contains itself is an error.
    """
    if depth > 16:
        raise RequestError([Problem("these lists are nested too deeply", code="too-large")])
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, os.PathLike):
        return file_name(value)
    if isinstance(value, str):
        return valid_text(value)
    if hasattr(value, "tolist"):
        return plain(value.tolist(), depth + 1)  # NumPy's numbers and arrays, pandas' series
    if not isinstance(value, (bytes, Mapping)):
        if isinstance(value, Iterable):
            return ",".join(plain(one, depth + 1) for one in value)
        if hasattr(value, "__index__"):
            return repr(value.__index__())  # int, and other libraries' integers
        if hasattr(value, "__float__"):
            return repr(float(value))  # Decimal, and other libraries' numbers
        if isinstance(value, Real):
            return repr(float(value))  # Fraction
    text = f"expected a number, a text or a list of these, found a value of type {type(value).__name__}"
    raise RequestError([Problem(text, code="wrong-type")])


class Outcome:
    """The result of a command: its report, its messages, and the timeline if it was recorded."""

    def __init__(self, raw: dict[str, Any]) -> None:
        self.status: int = raw["status"]
        self.out: str = raw["out"]
        self.messages: str = raw["messages"]
        self.errors: list[Error] = [error_of(kind, problems) for kind, problems in raw["errors"]]
        self.recording: Optional[_core.Recording] = raw["recording"]
        self.exception: Optional[BaseException] = raw["exception"]

    def json(self) -> dict[str, Any]:
        """Returns the report; empty if there is none."""
        report: dict[str, Any] = json.loads(self.out) if self.out.strip() else {}
        return report

    def check(self) -> None:
        """Raises the command's error. An interruption by the user or a callback is not an error."""
        if self.exception is not None:
            return
        if self.errors:
            problems = [problem for error in self.errors for problem in error.problems]
            raise type(self.errors[0])(problems)
        if self.status != 0:
            text = self.messages.strip() or f"the command ended with status {self.status}"
            raise RequestError([Problem(text.removeprefix("tutti: "))])

    def stopped(self, result: Any = None) -> None:
        """Raises the callback's exception, or Interrupted with `result` after Ctrl-C."""
        if self.exception is None:
            return
        if isinstance(self.exception, KeyboardInterrupt):
            raise Interrupted(result) from None
        raise self.exception


def run(
    command: str,
    arguments: Sequence[str] = (),
    options: Optional[Mapping[str, Any]] = None,
    *,
    scenarios: Optional[Mapping[str, str]] = None,
    record: bool = False,
    progress: Progress = None,
    json: bool = True,
) -> Outcome:
    """Runs a command, and raises its errors. `scenarios`: texts that replace files, by path."""
    words = command.split()
    words += [plain(argument) for argument in arguments]
    words += words_of(options or {})
    if json:
        words += ["--format", "json"]
    with _callback(progress) as callback:
        raw = _core.run_command(
            words=words,
            scenarios=dict(scenarios or {}),
            record=record,
            program=program(),
            folder=data_folder(),
            progress=callback,
        )
    outcome = Outcome(raw)
    outcome.check()
    return outcome


@contextlib.contextmanager
def _callback(progress: Progress) -> Iterator[Optional[Callable[[str, float], None]]]:
    if progress is None or progress is False:
        yield None
    elif progress is not True:
        if not callable(progress):
            text = f"progress: expected True, a function or None, found a value of type {type(progress).__name__}"
            raise RequestError([Problem(text, code="wrong-type", field="progress")])
        yield progress
    else:
        with _bar() as bar:
            yield bar


@contextlib.contextmanager
def _bar() -> Iterator[Callable[[str, float], None]]:
    try:
        from tqdm.auto import tqdm  # type: ignore[import]
    except ImportError:
        tqdm = None
    if tqdm is None:
        shown = -1

        def print_share(what: str, share: float) -> None:
            nonlocal shown
            if int(share * 10) > shown:
                shown = int(share * 10)
                print(f"{what}: {share:.0%}", file=sys.stderr)

        yield print_share
        return
    with tqdm(total=1.0, bar_format="{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}") as bar:

        def update(what: str, share: float) -> None:
            bar.set_description_str(what, refresh=False)
            bar.update(share - bar.n)

        yield update
