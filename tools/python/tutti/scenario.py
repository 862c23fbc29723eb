"""Scenarios, whose fields are attributes."""

from __future__ import annotations

import os
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Mapping, Optional, Union

from . import _core
from .algorithm import temporary_files
from .commands import Progress, data_folder, file_name, plain, run, scratch_folder, valid_text
from .errors import Interrupted, Problem, RequestError
from .fields import Elements, Fields, join, kind_of, typed_value, wrong_type
from .result import Explanation, Plan, Result
from .sweep import Sweep, Tuning

if TYPE_CHECKING:
    from .algorithm import Algorithm

Path_ = Union[str, "os.PathLike[str]"]

_NO_VALUE: Any = object()
_LARGEST = 64 << 20  # bytes; the limit of text files (docs/security.md)


def load(path: Path_) -> "Scenario":
    """Reads and checks the file of a scenario.

    Raises `tutti.RequestError` with all errors of the file, each with file, line, column and remedy.
    """
    file = file_name(path, "the path of a scenario")
    try:
        with open(file, "rb") as stream:
            content = stream.read(_LARGEST + 1)  # a device may have no end
    except OSError as error:
        problem = Problem(f"cannot be read: {error.strerror}", file=file, code="missing")
        raise RequestError([problem]) from error
    for beginning, kind, reader in (
        (b"TUTTITL1", "timeline", "tutti.open_timeline"),
        (b"SQLite format 3", "sweep", "tutti.Sweep"),
    ):
        if content.startswith(beginning):
            text = f"this file is a {kind}, not a scenario; use {reader}() to open it"
            raise RequestError([Problem(text, file=file, code="wrong-type")])
    if len(content) > _LARGEST:
        text = f"this file is longer than the limit of {_LARGEST} bytes"
        raise RequestError([Problem(text, file=file, code="too-large")])
    try:
        return parse(content.decode("utf-8"), path=file)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        column = error.start - content.rfind(b"\n", 0, error.start)
        text = f"byte 0x{content[error.start]:02x} is not valid UTF-8; save this file in UTF-8"
        raise RequestError([Problem(text, file, line, column, "syntax")]) from error


def parse(text: Union[str, Mapping[str, Any]], path: Path_ = "scenario.textproto") -> "Scenario":
    """Checks the text of a scenario (Protocol Buffers text format or JSON), or its fields.

    Returns the scenario. Fields are nested dictionaries, as `scenario.to_dict()` returns them.
    `path`: the name of the text in errors. File names in the text are relative to the folder of
    `path`. A file with the name `path` need not exist.
    """
    scenario = Scenario(text, path)
    scenario.check()
    return scenario


def _working_directory() -> str:
    """Returns the current folder; "" if it was deleted."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return ""


def _values_of(over: Mapping[str, Any]) -> list[str]:
    """Returns the values of --over for a mapping from fields to their values."""
    if not isinstance(over, Mapping):
        text = f'expected a dictionary, such as {{"strategy.shards": [1, 2, 4]}} (got {over!r})'
        raise RequestError([Problem(text, code="wrong-type")])
    return [f"{field}={plain(values)}" for field, values in over.items()]


class RunFields(Fields):
    """The field `run` of a scenario. `scenario.run()` executes the scenario."""

    __slots__ = ()

    def __call__(
        self,
        *,
        backend: str = "tcp",
        timeline: Union[bool, Path_, None] = None,
        emulate: bool = False,
        progress: Progress = None,
        **options: Any,
    ) -> Result:
        """Executes the scenario for real, with worker processes of `tutti` on this machine.

        Every element of every result is checked. Further options are those of `tutti run`.
        """
        options.update(backend=backend, emulate=emulate)
        return self._scenario._execute("run", timeline, options, progress)


class Scenario(Fields):
    """A scenario to predict. `scenario.strategy.shards = 4` changes its text in place.

    Comments, order and spacing of all other parts stay. Changes are checked when a command runs, or
    by `check()`, since several changes may only be valid together. Unknown fields are rejected at
    once.
    """

    __slots__ = ("_text", "_file", "_folder")
    _text: str
    _file: str
    _folder: str  # the working directory to which _file is relative

    def __init__(
        self,
        text: Union[str, Mapping[str, Any]],
        path: Path_ = "scenario.textproto",
        folder: Optional[str] = None,
    ) -> None:
        """Creates a scenario from an unchecked text (unlike `tutti.load` and `tutti.parse`).

        `folder`: the folder to which `path` is relative; by default, the current one.
        """
        super().__init__(self, "")
        object.__setattr__(self, "_text", "")
        object.__setattr__(self, "_file", file_name(path))
        object.__setattr__(self, "_folder", _working_directory() if folder is None else folder)
        if isinstance(text, bytes):
            text = text.decode("utf-8", "surrogateescape")
        if isinstance(text, str):
            object.__setattr__(self, "_text", valid_text(text))
        elif isinstance(text, Mapping):
            for name, value in text.items():
                self.set(name, value)
        else:
            wrong_type("expected the text of a scenario or a dictionary of its fields", text)

    def __reduce__(self) -> tuple[Any, ...]:
        return Scenario, (self._text, self._file, self._folder)

    # --- Text and fields ---

    @property
    def path(self) -> str:
        """The file that the scenario was read from, or the name of its text in errors."""
        return self._file

    def to_text(self) -> str:
        """Returns the scenario's text with all changes."""
        return self._text

    def save(self, path: Path_) -> "Scenario":
        """Writes the text to a file, which becomes its `path`.

        If `use()` has written the algorithm to a temporary file, the algorithm is written next to
        the scenario, and the scenario names this file. An existing file of this name with other
        content is not replaced.
        """
        file = file_name(path, "the path of a scenario")
        self._keep_algorithm(Path(file).absolute().parent)
        Path(file).write_text(self._text, encoding="utf-8", errors="surrogateescape")
        object.__setattr__(self, "_file", file)
        object.__setattr__(self, "_folder", _working_directory())
        return self

    def _keep_algorithm(self, folder: Path) -> None:
        """Copies the algorithm from a temporary file to a folder, and names the copy."""
        temporary = self.get("strategy.custom.file")
        if temporary not in temporary_files:
            return
        text = Path(temporary).read_text(encoding="utf-8")
        copy = folder / Path(temporary).name
        if copy.exists() and copy.read_text(encoding="utf-8", errors="replace") != text:
            message = "this file has another algorithm; call algorithm.save(path) and use(algorithm) first"
            raise RequestError([Problem(message, file=str(copy), code="conflict")])
        copy.write_text(text, encoding="utf-8")
        self.set("strategy.custom.file", copy.name)

    def copy(self) -> "Scenario":
        """Returns another scenario with the same text."""
        return Scenario(self._text, self._file, self._folder)

    def check(self) -> dict[str, Any]:
        """Raises `tutti.RequestError` with all errors, or returns facts about the scenario."""
        return _core.check_scenario(self._text, self._location(), data_folder())

    def _location(self) -> str:
        """The path of the file for commands. It is absolute if the working directory has changed."""
        return self._file if _working_directory() == self._folder else os.path.join(self._folder, self._file)

    def get(self, field: str) -> Any:
        """Returns the value of a field by its path: `get("cluster.workers[0].count")`."""
        return self._get(field)

    def set(self, field: Union[str, Mapping[str, Any]], value: Any = _NO_VALUE) -> "Scenario":
        """Sets a field by its path, or the fields of a dictionary, and returns the scenario.

        None removes the field. A mapping replaces a message, and a list replaces all elements of a
        repeated field.
        """
        if isinstance(field, Mapping):
            for name, one in field.items():
                self.set(name, one)
            return self
        if not isinstance(field, str):
            wrong_type("expected the path of a field, such as strategy.shards", field)
        valid_text(field, "path of a field")
        if value is _NO_VALUE:
            text = f"{field}: the value is missing; to remove the field, set it to None"
            raise RequestError([Problem(text, code="missing", field=field)])
        if isinstance(value, Fields):
            value = value.to_dict()
        elif hasattr(value, "tolist"):
            value = value.tolist()  # NumPy's numbers and arrays
        text = self._text
        if isinstance(value, Mapping):
            text = _core.with_field(text, field, "")
            object.__setattr__(self, "_text", _core.with_field(text, field, "{}"))
            for name, one in value.items():
                self.set(join(field, name), one)
            return self
        if isinstance(value, (list, tuple, Elements)):
            if not _core.field_state(text, field)["repeated"]:
                wrong_type(f"{field}: expected one value", value)
            values = [v.to_dict() if isinstance(v, Fields) else v for v in value]
            for index in reversed(range(_core.field_state(text, field)["count"])):
                text = _core.with_field(text, f"{field}[{index}]", "")
            object.__setattr__(self, "_text", text)
            for index, one in enumerate(values):
                self.set(f"{field}[{index}]", one)
            return self
        if value is not None and not isinstance(value, (str, bool)):
            kind = kind_of(text, field)
            if kind == "message":
                wrong_type(f"{field}: expected a dictionary with the fields of this message", value)
            if not isinstance(value, (Real, os.PathLike)) and not hasattr(value, "__float__"):
                wrong_type(f"{field}: expected a number, a text, a list or a dictionary", value)
            if kind == "whole" and isinstance(value, Real) and value == value // 1:
                value = int(value)  # as NumPy returns whole numbers: 4194304.0
        typed = plain(value)
        if typed == "" and value is not None:
            typed = '""'
        object.__setattr__(self, "_text", _core.with_field(text, field, typed))
        return self

    def _get(self, path: str) -> Any:
        state = _core.field_state(self._text, path)
        if state["repeated"]:
            return Elements(self, path)
        if state["kind"] == "message":
            return Fields(self, path)
        return typed_value(state) if state["written"] else None

    def use(self, algorithm: Union["Algorithm", str]) -> "Scenario":
        """Sets the algorithm of the strategy: a built-in one by its name, or a custom one.

        A custom algorithm that has no file is written to a temporary file, which is removed when
        Python ends. `save()` of the scenario keeps the algorithm, as `algorithm.save(path)` does.
        """
        if isinstance(algorithm, str):
            self.set("strategy.custom", None)
            return self.set("strategy.algorithm", algorithm)
        self.set("strategy.algorithm", None)
        return self.set("strategy.custom.file", os.fspath(algorithm))

    # --- Commands ---

    def plan(self, *, check: bool = False, schedule: bool = False, pack: int = 0) -> Plan:
        """Returns the communication of a step: packs, their gradients, algorithms and start rules.

        `check` proves every schedule. `schedule` adds the schedule steps of one pack.
        """
        options = {"check": check, "schedule": schedule, "pack": pack if pack else None}
        return Plan(self._run("plan", options).json())

    def simulate(
        self,
        *,
        timeline: Union[bool, Path_, None] = None,
        steps: Optional[int] = None,
        seed: Optional[int] = None,
        network_model: Optional[str] = None,
        progress: Progress = None,
        **options: Any,
    ) -> Result:
        """Predicts the training step.

        `timeline`: True stores every span of every device in the result (up to `max_spans`); a path
        also writes the timeline to that file. Without `timeline`, the result has only steps, packs,
        links and the critical path. Further options are those of `tutti simulate`: `record`,
        `workers`, `from_us`, `to_us`, `max_spans`, `interference`, `nccl`, `fold`, `remember`.
        """
        if isinstance(network_model, str):
            network_model = network_model.lower()  # the field run.network_model has upper case
        options.update(steps=steps, seed=seed, network_model=network_model)
        return self._execute("simulate", timeline, options, progress)

    @property
    def run(self) -> "RunFields":
        """`scenario.run()` executes the scenario for real; `scenario.run.steps` is a field of `run`."""
        return RunFields(self, "run")

    def explain(self, *, progress: Progress = None) -> Explanation:
        """Explains what determines the step time, and what would reduce it."""
        outcome = self._run("explain", {}, progress=progress)
        outcome.stopped()
        return Explanation(outcome.json())

    def sweep(
        self,
        over: Mapping[str, Any],
        *,
        output: Optional[Path_] = None,
        threads: int = 0,
        progress: Progress = None,
        **options: Any,
    ) -> Sweep:
        """Predicts all combinations of values: `sweep({"strategy.shards": [1, 2, 4]})`.

        Values are a list, or a text as in `tutti sweep --over`, such as "64KiB..256MiB*2". Results
        are written to the SQLite file `output` as soon as they are known. If the file exists, the
        sweep continues from it. Without `output`, a temporary file is used, which is removed when
        Python ends.
        """
        options["over"] = _values_of(over)
        if output is None:
            output = scratch_folder() / "points.sweep"
        options.update(output=output, threads=threads or None)
        outcome = self._run("sweep", options, progress=progress)
        if outcome.exception is not None:
            outcome.stopped(Sweep(output) if Path(output).exists() else None)
        return Sweep(output)

    def tune(
        self,
        over: Optional[Mapping[str, Any]] = None,
        *,
        evaluations: int = 100,
        seed: int = 0,
        progress: Progress = None,
        **options: Any,
    ) -> Tuning:
        """Searches for the best settings of the fields in `over`; by default, the framework's fields."""
        options.update(evaluations=evaluations, seed=seed)
        options["over"] = _values_of(over or {})
        outcome = self._run("tune", options, progress=progress)
        outcome.stopped()
        return Tuning(outcome.json(), self)

    # --- Implementation ---

    def _run(self, command: str, options: Mapping[str, Any], **how: Any) -> Any:
        file = self._location()
        return run(command, [file], options, scenarios={file: self._text}, **how)

    def _execute(
        self,
        command: str,
        timeline: Union[bool, Path_, None],
        options: dict[str, Any],
        progress: Progress,
    ) -> Result:
        options.setdefault("record", "steps" if timeline else "packs")
        if timeline and timeline is not True:
            options["timeline"] = timeline
        outcome = self._run(command, options, record=True, progress=progress)
        recording = outcome.recording
        result = None
        if recording is not None and len(recording.steps()) > 0:
            result = Result(recording, outcome.json())
        outcome.stopped(result)
        if result is None:
            raise Interrupted(None)
        return result

    def __repr__(self) -> str:
        return f"<tutti.Scenario {self._file}>"

    def _repr_html_(self) -> str:
        import html

        return f"<pre>{html.escape(self._text)}</pre>"
