"""Sweeps and searches over scenarios."""

from __future__ import annotations

import html
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Mapping, Optional, Union

from . import _core
from ._display import rows_html, show_distinct, show_setting
from .commands import file_name
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
        self.path = file_name(path, "the path of a sweep")
        self._file = os.path.abspath(self.path)  # the working directory may change
        table, self.fields = _core.sweep_table(self.path)
        #: One row per completed point, with the fields that vary, `status`, times in microseconds
        #: and `packs`.
        self.points = Table(table)

    def __reduce__(self) -> tuple[Any, ...]:
        """Stores the sweep as the bytes of its file, for copy, pickle and multiprocessing."""
        return _restore_sweep, (Path(self._file).read_bytes(), self.path)

    def over_seeds(self) -> list[dict[str, Any]]:
        """Returns the settings with statistics of their step times over all seeds, fastest first.

        Each entry has the fields that vary, except `run.seed`, and `seeds` (the number of points),
        `median_us`, `lower_quartile_us`, `upper_quartile_us`, `min_us` and `max_us`. Settings without
        a result are left out.
        """
        import numpy

        times = self.points["step_time_us"]
        fields = [field for field in self.fields if field != "run.seed"]
        columns = [self.points[field] for field in fields]
        groups: dict[tuple[Any, ...], list[float]] = {}
        for i in range(len(times)):
            if times[i] == times[i]:
                groups.setdefault(tuple(column[i] for column in columns), []).append(float(times[i]))
        rows = []
        for settings, group in groups.items():
            low, q1, median, q3, high = numpy.quantile(group, [0, 0.25, 0.5, 0.75, 1])
            statistics = {"seeds": len(group), "median_us": float(median), "lower_quartile_us": float(q1),
                          "upper_quartile_us": float(q3), "min_us": float(low), "max_us": float(high)}
            rows.append({**dict(zip(fields, settings)), **statistics})
        return sorted(rows, key=lambda row: float(row["median_us"]))

    def best(self) -> Optional[dict[str, Any]]:
        """Returns the settings of the fastest point; None if no point has a step time.

        If `run.seed` varies, these are the settings with the lowest median over all seeds, without
        `run.seed`, because the fastest point only has the most favourable seed.
        """
        rows = self.over_seeds()
        return {field: value for field, value in rows[0].items() if field in self.fields} if rows else None

    def to_pandas(self) -> "pandas.DataFrame":
        """Returns the points as a data frame."""
        return self.points.to_pandas()

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        return f"<tutti.Sweep of {len(self)} points over {', '.join(self.fields)}>"

    def _repr_html_(self) -> str:
        if "run.seed" in self.fields:
            fields = [field for field in self.fields if field != "run.seed"]
            settings = self.over_seeds()
            statistics = ("median", "lower_quartile", "upper_quartile")
            shown = [[row["seeds"]] for row in settings[:10]]
            for one in statistics:
                for cells, time in zip(shown, show_distinct(row[f"{one}_us"] for row in settings[:10])):
                    cells.append(time)
            for cells, row in zip(shown, settings):
                cells += [show_setting(field, row[field]) for field in fields]
            return rows_html(["seeds", "median", "q1", "q3", *fields], shown, len(settings) - 10)
        times = self.points["step_time_us"]
        exposed = self.points["exposed_communication_us"]
        order = sorted((i for i in range(len(times)) if times[i] == times[i]), key=lambda i: float(times[i]))
        order, more = order[:10], len(order) - 10
        settings_of = [[show_setting(f, self.points[f][i]) for f in self.fields] for i in order]
        rows = [
            [*cells, *settings]
            for *cells, settings in zip(
                show_distinct(times[i] for i in order), show_distinct(exposed[i] for i in order), settings_of
            )
        ]
        return rows_html(["step time", "exposed", *self.fields], rows, more)


def _restore_sweep(content: bytes, path: str) -> Sweep:
    """Returns the sweep whose __reduce__() has returned these values."""
    with tempfile.TemporaryDirectory(prefix="tutti-") as folder:
        file = Path(folder) / "points.sweep"
        file.write_bytes(content)
        sweep = Sweep(file)
    sweep.path = path
    return sweep


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
        """The values of the best settings that were tried, by field; empty if there are none."""
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
        names = [name for name in ("now", "best") if name in self.report]
        times = show_distinct(self.report[name]["step_time_us"] for name in names)
        rows = list(zip(names, times))
        rows += [(field, show_setting(field, value) or "not set") for field, value in self.best_settings.items()]
        advice = "change to the best settings" if self.change else "keep the current settings"
        why = html.escape(self.report["advice"]["why"])
        return rows_html(["", ""], rows) + f"<p>recommended: {advice}; {why}</p>"
