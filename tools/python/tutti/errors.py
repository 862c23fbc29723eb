"""The exceptions of Tutti. All of them derive from `tutti.Error`."""

from __future__ import annotations

import re
from typing import Any, NamedTuple, NoReturn, Optional


class Problem(NamedTuple):
    """A problem of an input or of a run."""

    text: str
    #: The file with the problem; "" if there is none.
    file: str = ""
    #: The line and column of the problem in the file, counted from 1; 0: the whole file.
    line: int = 0
    column: int = 0
    #: The kind of the problem, such as "unknown-name" or "too-large". Codes remain the same if
    #: texts change.
    code: str = "invalid"
    #: The field, option or column with the problem, such as "Network.latency_us".
    field: str = ""
    #: The worker that caused the problem in a real run; -1: none.
    worker: int = -1

    @property
    def hint(self) -> str:
        """The remedy: the part of the text after the first semicolon; "" if there is none."""
        return self.text.partition("; ")[2]

    def __str__(self) -> str:
        place = self.file
        if place and self.line > 0:
            place += f":{self.line}:{self.column}"
        return f"{place}: {self.text}" if place else self.text


class Error(Exception):
    """An invalid request or a failed run. `problems` has all problems that were found."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        super().__init__("\n".join(str(problem) for problem in problems))

    @property
    def text(self) -> str:
        """The text of the first problem, without its place."""
        return self.problems[0].text

    @property
    def code(self) -> str:
        """The kind of the first problem, such as "unknown-name" or "too-large"."""
        return self.problems[0].code

    @property
    def field(self) -> str:
        """The field, option or column with the first problem; "" if there is none."""
        return self.problems[0].field

    @property
    def file(self) -> str:
        """The file of the first problem."""
        return self.problems[0].file

    @property
    def line(self) -> int:
        """The line of the first problem, counted from 1; 0: the whole file."""
        return self.problems[0].line

    @property
    def column(self) -> int:
        """The column of the first problem, counted from 1; 0: the whole file."""
        return self.problems[0].column

    @property
    def worker(self) -> int:
        """The worker that caused the first problem in a real run; -1: none."""
        return self.problems[0].worker

    @property
    def hint(self) -> str:
        """The remedy for the first problem; "" if its text has none."""
        return self.problems[0].hint


class RequestError(Error, ValueError):
    """The request is invalid (a scenario, a file or an option), and nothing was done."""


class FieldError(RequestError, AttributeError):
    """The scenario has no field with the requested name."""


class RunError(Error, RuntimeError):
    """The run failed, for example because a worker died or a result was wrong."""


class Interrupted(RunError, KeyboardInterrupt):
    """Ctrl-C ended the work. `result` is the part that was completed before, or None."""

    def __init__(self, result: Optional[Any] = None) -> None:
        self.result = result
        kept = "" if result is None else "; what was completed is in the exception's `result`"
        super().__init__([Problem(f"interrupted{kept}", code="stopped")])


def error_of(kind: str, problems: list[dict[str, Any]]) -> Error:
    """Returns the exception for an error of the compiled module."""
    found = [Problem(**problem) for problem in problems]
    if kind == "run":
        return RunError(found)
    if all(problem.code == "unknown-field" and not problem.file for problem in found):
        return FieldError(found)
    return RequestError(found)


def raise_problems(kind: str, problems: list[dict[str, Any]]) -> NoReturn:
    """Raises error_of(kind, problems)."""
    raise error_of(kind, problems)


def option_name(keyword: str) -> str:
    """Returns the command-line option of a keyword argument: `from_us` → --from-us."""
    return "--" + re.sub("_", "-", keyword)
