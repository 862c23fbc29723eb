"""Formats results for notebooks."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, Sequence

if TYPE_CHECKING:
    from .table import Table

_MAX_ROWS = 10


def show_time(us: float) -> str:
    """Formats a time in microseconds with three significant digits and its unit."""
    if us == 0:
        return "0 s"
    for scale, unit in ((1e6, "s"), (1e3, "ms"), (1.0, "µs"), (1e-3, "ns")):
        if abs(us) >= scale:
            return f"{_three_digits(us / scale)} {unit}"
    return f"{us * 1e6:.0f} ps"


def _three_digits(value: float) -> str:
    if abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


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
