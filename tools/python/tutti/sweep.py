"""Sweeps and searches over scenarios."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Mapping, Optional, Union

from . import _core
from ._display import rows_html, show_time
from .result import Report
from .table import Table

if TYPE_CHECKING:
    import pandas  # type: ignore[import]  # Debian's pandas has no type annotations

    from .scenario import Scenario

Path_ = Union[str, "os.PathLike[str]"]


class Sweep:
    """The points of a sweep, which may be incomplete."""

    def __init__(self, path: Path_) -> None:
        """Opens the file of a sweep (`tutti sweep -o`, `scenario.sweep(output=…)`)."""
        self.path = os.fspath(path)
        table, self.fields = _core.sweep_table(self.path)
        #: One row per completed point, with the fields that vary, `status`, times in microseconds
        #: and `packs`.
        self.points = Table(table)

    def best(self) -> Optional[dict[str, Any]]:
        """Returns the settings of the fastest point; None if no point has a step time."""
        times = self.points["step_time_us"]
        done = [i for i in range(len(times)) if times[i] == times[i]]
        if not done:
            return None
        fastest = min(done, key=lambda i: float(times[i]))
        return {field: self.points[field][fastest] for field in self.fields}

    def to_pandas(self) -> "pandas.DataFrame":
        """Returns the points as a data frame."""
        return self.points.to_pandas()

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        return f"<tutti.Sweep of {len(self)} points over {', '.join(self.fields)}>"

    def _repr_html_(self) -> str:
        times = self.points["step_time_us"]
        exposed = self.points["exposed_communication_us"]
        order = sorted((i for i in range(len(times)) if times[i] == times[i]), key=lambda i: float(times[i]))
        rows = [
            (show_time(times[i]), show_time(exposed[i]), *(self.points[f][i] for f in self.fields))
            for i in order[:10]
        ]
        return rows_html(["step time", "exposed", *self.fields], rows, len(order) - 10)


class Tuning(Report):
    """The best settings that a search found."""

    def __init__(self, report: dict[str, Any], scenario: "Scenario") -> None:
        super().__init__(report)
        self._scenario = scenario

    @property
    def change(self) -> bool:
        """True if the search recommends to change settings."""
        return bool(self.report["advice"]["change"])

    @property
    def best_settings(self) -> Mapping[str, str]:
        """The settings of the best point that was tried: the value by field; empty if there is none."""
        return self.report.get("best_settings", {})

    @property
    def snippets(self) -> list[dict[str, Any]]:
        """The text to paste into the configuration of each framework."""
        snippets: list[dict[str, Any]] = self.report["snippets"]
        return snippets

    def apply(self) -> "Scenario":
        """Returns a copy of the scenario with the recommended settings."""
        scenario = self._scenario.copy()
        if self.change:
            for field, value in self.best_settings.items():
                scenario.set(field, value if value != "" else None)
        return scenario

    def _repr_html_(self) -> str:
        rows = [("now", show_time(self.report["now"]["step_time_us"]))]
        if "best" in self.report:
            rows.append(("best", show_time(self.report["best"]["step_time_us"])))
        rows += list(self.best_settings.items())
        return rows_html(["", ""], rows) + f"<p>{self.report['advice']['why']}</p>"
