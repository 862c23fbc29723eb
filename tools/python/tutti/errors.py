"""Exceptions. Every one that Tutti raises is a `tutti.Error`."""

from __future__ import annotations

import re
from typing import Any, NamedTuple, NoReturn, Optional


class Problem(NamedTuple):
    """One thing that is wrong with an input or a run."""

    text: str
    #: The file that was read, with line and column from 1 on; "" and 0 if there is none.
    file: str = ""
    line: int = 0
    column: int = 0
    #: The kind of the problem, which stays when the text is reworded: "unknown-name", "too-large", …
    code: str = "invalid"
    #: The field, option or column that is meant: "Network.latency_us".
    field: str = ""
    #: The worker at fault in a run of several, or -1.
    worker: int = -1

    @property
    def hint(self) -> str:
        """What to do about it, if the text says so: its part after the first semicolon."""
        return self.text.partition("; ")[2]

    def __str__(self) -> str:
        place = self.file
        if place and self.line > 0:
            place += f":{self.line}:{self.column}"
        return f"{place}: {self.text}" if place else self.text


class Error(Exception):
    """A wrong request or a failed run. `problems` has all that was found, not only the first."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        super().__init__("\n".join(str(problem) for problem in problems))

    @property
    def file(self) -> str:
        """The file of the first problem."""
        return self.problems[0].file

    @property
    def line(self) -> int:
        """The line of the first problem, from 1 on; 0: the file as a whole."""
        return self.problems[0].line

    @property
    def column(self) -> int:
        """The column of the first problem, from 1 on."""
        return self.problems[0].column

    @property
    def hint(self) -> str:
        """What to do about the first problem; "" if its text does not say."""
        return self.problems[0].hint


class RequestError(Error, ValueError):
    """The request is invalid, and nothing was done: a mistake in a scenario, a file or an option."""


class FieldError(RequestError, AttributeError):
    """A scenario has no such field."""


class RunError(Error, RuntimeError):
    """The run failed: a worker died, a result was wrong, a disk was full."""


class Interrupted(RunError, KeyboardInterrupt):
    """Ctrl-C ended the work. `result` has what was completed until then, or is None."""

    def __init__(self, result: Optional[Any] = None) -> None:
        self.result = result
        kept = "" if result is None else "; what was completed is in the exception's `result`"
        super().__init__([Problem(f"interrupted{kept}", code="stopped")])


def error_of(kind: str, problems: list[dict[str, Any]]) -> Error:
    """Makes the exception for an error of the compiled part."""
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
    """The option of the command line that a keyword argument stands for: `from_us` → --from-us."""
    return "--" + re.sub("_", "-", keyword)
