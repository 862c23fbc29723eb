"""Formats results for notebooks."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, Iterable, Sequence

if TYPE_CHECKING:
    from .table import Table

_MAX_ROWS = 10


def show_time(us: float, more: int = 0) -> str:
    """Formats a time in microseconds with its unit and three significant digits, or `more`."""
    if us == 0:
        return "0 s"
    for scale, unit in ((1e6, "s"), (1e3, "ms"), (1.0, "µs"), (1e-3, "ns")):
        if abs(us) >= scale:
            return f"{_digits(us / scale, more)} {unit}"
    return f"{us * 1e6:.0f} ps"


def show_distinct(times: Iterable[float]) -> list[str]:
    """Formats times in microseconds that a reader will compare.

    Times that differ are printed with enough digits to look different, up to seven.
    """
    times = [float(time) for time in times]
    different = set(times)
    for more in range(5):
        if len({show_time(time, more) for time in different}) == len(different):
            break
    return [show_time(time, more) for time in times]


def _digits(value: float, more: int) -> str:
    before = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:.{before + more}f}"


def show_setting(field: str, value: Any) -> str:
    """Formats the value of a scenario's field. Sizes have the unit in which they are whole."""
    if "bytes" not in field.rpartition(".")[2]:
        return str(value)
    try:
        size = int(value)
    except ValueError:
        return str(value)
    for unit, scale in (("GiB", 1 << 30), ("GB", 10**9), ("MiB", 1 << 20), ("MB", 10**6), ("KiB", 1 << 10), ("KB", 1000)):
        if size > 0 and size % scale == 0:
            return f"{size // scale} {unit}"
    return str(value)


def rows_html(headings: Sequence[str], rows: Sequence[Sequence[Any]], more: int = 0) -> str:
    """Returns an HTML table; `more`: the number of rows that are left out."""
    parts = ["<table><thead><tr>"]
    parts += [f"<th>{html.escape(heading)}</th>" for heading in headings]
    parts.append("</tr></thead><tbody>")
    for row in rows:
        cells = "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row)
        parts.append(f"<tr>{cells}</tr>")
    parts.append("</tbody></table>")
    if more > 0:
        parts.append(f"<p>… and {more:,} more rows</p>")
    return "".join(parts)


def table_html(table: "Table") -> str:
    """Returns the first rows of a table as HTML."""
    shown = min(len(table), _MAX_ROWS)
    columns = []
    for name in table.columns:
        categories = table.categories(name)
        values = table[name][:shown]
        columns.append([categories[value] for value in values] if categories else list(values))
    return rows_html(table.columns, list(zip(*columns)), len(table) - shown)
