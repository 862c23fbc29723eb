"""Tables whose columns NumPy, and consumers of Arrow's C stream interface, read in place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator, Mapping, Optional

from . import _core

if TYPE_CHECKING:
    import numpy
    import pandas  # type: ignore[import]  # Debian's pandas has no type annotations


class Table(Mapping[str, "numpy.ndarray[Any, Any]"]):
    """Columns of equal length.

    `table["start_ps"]` is a NumPy array that is a read-only view of the table's memory. Columns of
    texts are arrays of str. Categorical columns (`track`, `kind`) are arrays of indices into
    `table.categories("track")`.

    pandas, polars, DuckDB and pyarrow accept a table, without copying its columns:
    `table.to_pandas()`, `polars.from_arrow(table)`, `pyarrow.table(table)`.
    """

    def __init__(self, core: _core.Table) -> None:
        self._core = core
        self._arrays: dict[str, "numpy.ndarray[Any, Any]"] = {}

    def __getitem__(self, column: str) -> "numpy.ndarray[Any, Any]":
        if column not in self._arrays:
            if column not in self.columns:
                raise KeyError(f"there is no column {column!r}; the columns are {', '.join(self.columns)}")
            self._arrays[column] = self._core.array(column)
        return self._arrays[column]

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("a table cannot be copied or pickled; use its result, to_pandas() or dict(table)")

    def __iter__(self) -> Iterator[str]:
        return iter(self._core.columns)

    def __len__(self) -> int:
        """Returns the number of rows."""
        return len(self._core)

    def __bool__(self) -> bool:
        return len(self) > 0

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self._core.columns

    def categories(self, column: str) -> list[str]:
        """Returns the names that a categorical column indexes; empty for other columns."""
        return self._core.categories(column)

    def to_pandas(self) -> "pandas.DataFrame":
        """Returns a data frame whose columns are views of the table, if pandas supports that."""
        import pandas

        series = {}
        for name in self.columns:
            names = self.categories(name)
            if names:
                # from_codes() keeps codes of the smallest type; validation would copy once more.
                series[name] = pandas.Categorical.from_codes(self[name], categories=names)
            else:
                series[name] = self[name]
        return pandas.DataFrame(series, copy=False)

    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object:
        """Arrow's PyCapsule interface: a stream with one record batch in the table's memory."""
        return self._core.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return f"<tutti.Table of {len(self)} rows: {', '.join(self.columns)}>"

    def _repr_html_(self) -> str:
        from ._display import table_html

        return table_html(self)
