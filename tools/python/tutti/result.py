"""Results: timelines with their tables and reports."""

from __future__ import annotations

import html
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Optional, Union

from . import _core
from ._display import rows_html, show_distinct, show_time
from .commands import file_name
from .errors import Problem, RequestError
from .table import Table

if TYPE_CHECKING:
    import pandas  # type: ignore[import]  # Debian's pandas has no type annotations

    from .window import Window

Path_ = Union[str, "os.PathLike[str]"]


class Report(Mapping[str, Any]):
    """The report of a command with `--format json` (docs/reports.md has its fields)."""

    def __init__(self, report: dict[str, Any]) -> None:
        self.report = report

    def __getitem__(self, field: str) -> Any:
        return self.report[field]

    def __iter__(self) -> Iterator[str]:
        return iter(self.report)

    def __len__(self) -> int:
        return len(self.report)

    @property
    def notes(self) -> list[str]:
        """Assumptions of the result, and parts of the input that were left out."""
        notes: list[str] = self.report.get("notes", [])
        return notes

    def __repr__(self) -> str:
        return f"<tutti.{type(self).__name__}: {', '.join(self.report)}>"


class Plan(Report):
    """The communication of a training step."""

    @property
    def packs(self) -> list[dict[str, Any]]:
        """The packs with their gradients, in the order of their numbers."""
        packs: list[dict[str, Any]] = self.report["packs"]
        return packs

    def _repr_html_(self) -> str:
        rows = [
            (pack["pack"], f"{pack['bytes']:,}", len(pack["gradients"]), pack["starts"])
            for pack in self.packs
        ]
        return rows_html(["pack", "bytes", "gradients", "starts"], rows[:20], len(rows) - 20)


class Explanation(Report):
    """The explanation of a step time."""

    def _repr_html_(self) -> str:
        report = self.report
        # The step time of a change is compared with the time of the scenario.
        changes = report["what_if"]
        now, *times = show_distinct([report["step_time_us"], *(one["step_time_us"] for one in changes)])
        rows = [("step time", now), ("computation", show_time(report["computation_us"])),
                ("exposed communication", show_time(report["exposed_communication_us"])),
                ("lower bound", show_time(report["lower_bound"]["step_us"]))]
        path = "".join(f"<li>{html.escape(part)}</li>" for part in report["critical_path_in_words"])
        helpful = [(show_time(one["saves_us"]), time, one["what"]) for one, time in zip(changes, times)]
        return (rows_html(["", ""], rows) + f"<p>critical path of the last step</p><ul>{path}</ul>"
                + rows_html(["saves", "step time", "change"], helpful[:10], len(helpful) - 10))


class Perf(Report):
    """The table of nccl-tests, with one entry of `rows` per size."""

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows, one per size, with the fields of docs/reports.md."""
        rows: list[dict[str, Any]] = self.report["rows"]
        return rows

    def to_pandas(self) -> "pandas.DataFrame":
        """Returns the rows as a data frame.

        The columns for out-of-place and in-place results have the prefixes `out_of_place_` and
        `in_place_`.
        """
        import pandas

        return pandas.json_normalize(self.rows, sep="_")

    def _repr_html_(self) -> str:
        frame = self.rows
        columns = list(frame[0]) if frame else []
        return rows_html(columns, [[row.get(column, "") for column in columns] for row in frame])


class Comparison(Report):
    """A comparison of two timelines, pack by pack and step by step."""

    @property
    def in_words(self) -> list[str]:
        """The conclusions in sentences."""
        sentences: list[str] = self.report["in_words"]
        return sentences

    def _repr_html_(self) -> str:
        rows = [
            (name.removesuffix("_us").replace("_", " "), show_time(pair["first_us"]),
             show_time(pair["second_us"]), show_time(pair["difference_us"]))
            for name, pair in self.report.items()
            if isinstance(pair, dict) and "first_us" in pair
        ]
        words = "".join(f"<p>{sentence}</p>" for sentence in self.in_words)
        return rows_html(["", "first", "second", "difference"], rows) + words


class Result:
    """A prediction, a run or an imported timeline, with its tables, its report and its picture.

    Times in tables are picoseconds since the start (columns `…_ps`), sizes are bytes.
    """

    def __init__(self, recording: _core.Recording, report: Optional[dict[str, Any]] = None) -> None:
        self._recording = recording
        self._report = report
        self._tables: dict[str, Table] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        """Stores the result as the bytes of its timeline file, for copy, pickle and multiprocessing."""
        with tempfile.TemporaryDirectory(prefix="tutti-") as folder:
            file = os.path.join(folder, "result.tutti")
            self._recording.save(file, "tutti", "spans")
            return _restore_result, (Path(file).read_bytes(), self.report)

    def _table(self, name: str) -> Table:
        if name not in self._tables:
            self._tables[name] = Table(getattr(self._recording, name)())
        return self._tables[name]

    @property
    def spans(self) -> Table:
        """The spans of every recorded device: computation, packs in flight, schedule steps."""
        return self._table("spans")

    @property
    def tracks(self) -> Table:
        """The tracks on which spans lie. The column `track` of `spans` has their indices."""
        return self._table("tracks")

    @property
    def steps(self) -> Table:
        """The training steps and the parts of their time."""
        return self._table("steps")

    @property
    def packs(self) -> Table:
        """The packs of every step, with the times when they were ready, launched and complete."""
        return self._table("packs")

    @property
    def links(self) -> Table:
        """The links, with their load."""
        return self._table("links")

    @property
    def messages(self) -> Table:
        """The messages between recorded lanes. Needs `timeline=True`."""
        return self._table("messages")

    @property
    def path(self) -> Table:
        """The critical path of the last step."""
        return self._table("path")

    @property
    def report(self) -> dict[str, Any]:
        """The report of `tutti simulate --format json` (docs/reports.md)."""
        if self._report is None:
            import json

            self._report = json.loads(self._recording.report())
        return self._report

    @property
    def step_time_us(self) -> float:
        """The steady step time in microseconds."""
        return float(self.report["step_time_us"])

    @property
    def notes(self) -> list[str]:
        """Assumptions of the result, and parts of the input that were left out."""
        return self._recording.notes

    @property
    def scenario(self) -> str:
        """The scenario's name."""
        return self._recording.scenario

    @property
    def scenario_text(self) -> str:
        """The scenario's text, from which the timeline can be reproduced."""
        return self._recording.scenario_text

    def compare(self, other: "Result") -> Comparison:
        """Compares this timeline with another one of the same workload."""
        return compare(self, other)

    def save(self, path: Path_) -> "Result":
        """Writes the timeline to a file (`NAME.tutti`) for `tutti.open_timeline` or the window."""
        self._recording.save(os.fspath(path), "tutti", "spans")
        return self

    def export(self, path: Path_, to: Optional[str] = None, table: str = "spans") -> "Result":
        """Exports the timeline as `to`: "perfetto", "csv" (only `table`) or "svg" (the last step).

        By default, the suffix of `path` determines the format.
        """
        endings = {".svg": "svg", ".csv": "csv", ".perfetto-trace": "perfetto"}
        chosen = to or endings.get(Path(path).suffix)
        if chosen is None or chosen not in endings.values():
            raise RequestError(
                [Problem(f"{path}: expected one of svg, csv, perfetto; pass the format as to=", code="unknown-name")]
            )
        self._recording.save(os.fspath(path), chosen, table)
        return self

    def svg(self) -> str:
        """Returns a picture of the last training step, as the text of an SVG file."""
        return self._recording.svg()

    def view(self) -> "Window":
        """Opens the window with this timeline, and returns as soon as the window shows it.

        When the window closes, it deletes its copy of the timeline and the marks that the user has
        set. To keep timeline and marks, call `save(path)`, and open the file with `tutti view`.
        """
        from .window import open_window

        return open_window(self)

    def __repr__(self) -> str:
        return f"<tutti.Result of {self.scenario}: step time {show_time(self.step_time_us)}>"

    def _repr_html_(self) -> str:
        report = self.report
        rows = [("step time", show_time(report["step_time_us"]))]
        for field in ("forward_us", "backward_us", "other_compute_us", "communication_us",
                      "exposed_communication_us", "least_step_time_us"):
            if field in report:
                rows.append((field.removesuffix("_us").replace("_", " "), show_time(report[field])))
        recording = self._recording
        heading = f"<p>{recording.scenario} ({recording.executor}): {recording.cluster}, {recording.strategy}</p>"
        picture = ""
        try:
            picture = self.svg() if self._recording.span_count else ""
        except RequestError:
            pass  # there are no spans that a picture could show
        return heading + rows_html(["", ""], rows) + picture


def _restore_result(timeline: bytes, report: dict[str, Any]) -> Result:
    """Returns the result whose __reduce__() has returned these values."""
    with tempfile.TemporaryDirectory(prefix="tutti-") as folder:
        file = Path(folder) / "result.tutti"
        file.write_bytes(timeline)
        return Result(_core.open_timeline(str(file)), report)


def open_timeline(path: Path_) -> Result:
    """Reads a timeline file of `tutti simulate`, `tutti run` or `tutti import`."""
    return Result(_core.open_timeline(file_name(path, "the path of a timeline")))


def compare(first: Union[Result, Path_], second: Union[Result, Path_]) -> Comparison:
    """Compares two timelines of the same workload, which are results or files."""
    import json

    expected = "a result or the path of a timeline (a scenario has a result after simulate())"
    a, b = (
        one if isinstance(one, Result) else open_timeline(file_name(one, expected))
        for one in (first, second)
    )
    return Comparison(json.loads(_core.compare_recordings(a._recording, b._recording)))
