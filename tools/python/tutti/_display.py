"""Formats results for notebooks."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, Iterable, Sequence

from . import _core

if TYPE_CHECKING:
    from .table import Table

_MAX_ROWS = 10


def show_time(us: float) -> str:
    """Formats a time in microseconds with its unit and three or four significant digits."""
    return show_distinct([us])[0]


def show_distinct(times: Iterable[float]) -> list[str]:
    """Formats times in microseconds that a reader will compare.

    Times that differ are printed with enough digits to look different, up to seven.
    """
    return _core.show_distinct([float(time) for time in times])


def show_setting(field: str, value: Any) -> str:
    """Formats the value of a scenario's field. Sizes have the unit in which they are whole."""
    text = str(value)
    if "bytes" in field.rpartition(".")[2] and text.isdecimal():
        return _core.show_exact(int(text))
    return text


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
