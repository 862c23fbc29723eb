"""Custom algorithms, written in Python.

    ring = tutti.Algorithm("my_ring", collective="all_reduce", chunks=tutti.ranks)
    with ring.lane():
        ring.send(ring.data[tutti.rank], to=tutti.rank + 1)
        with ring.loop("round", 1, tutti.ranks - 2) as r:
            ring.reduce(
                ring.data[tutti.rank - r], source=tutti.rank - 1, then="only send", to=tutti.rank + 1
            )
        …
    scenario.use(ring).simulate()

An algorithm is a text in the language of docs/your-own-algorithm.md: one description for all ranks.
Each rank executes its lanes concurrently, and the statements of a lane in order. Tutti proves an
algorithm before it simulates it.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any, Iterator, Optional, Union

from .commands import scratch_folder
from .errors import Problem, RequestError

#: The files of algorithms that __fspath__() has written. Scenario.save() replaces them by copies.
temporary_files: set[str] = set()

Number = Union[int, "Value"]
Path_ = Union[str, "os.PathLike[str]"]


class Value:
    """An integer that depends on the rank: an expression of the language."""

    def __init__(self, text: str) -> None:
        self.text = text

    def _with(self, operator: str, other: Number, swapped: bool = False) -> "Value":
        left, right = _text(self), _text(other)
        if swapped:
            left, right = right, left
        return Value(f"({left} {operator} {right})")

    def __add__(self, other: Number) -> "Value":
        return self._with("+", other)

    def __radd__(self, other: Number) -> "Value":
        return self._with("+", other, swapped=True)

    def __sub__(self, other: Number) -> "Value":
        return self._with("-", other)

    def __rsub__(self, other: Number) -> "Value":
        return self._with("-", other, swapped=True)

    def __mul__(self, other: Number) -> "Value":
        return self._with("*", other)

    def __rmul__(self, other: Number) -> "Value":
        return self._with("*", other, swapped=True)

    def __floordiv__(self, other: Number) -> "Value":
        return self._with("/", other)

    def __truediv__(self, other: Number) -> "Value":
        raise TypeError("values of the algorithm language are whole numbers; use // to divide")

    def __index__(self) -> int:
        raise TypeError(
            "this value depends on the rank, which is not known while Python runs; "
            "use algorithm.loop(name, first, last) instead of range()"
        )

    def __mod__(self, other: Number) -> "Value":
        return self._with("%", other)

    def __xor__(self, other: Number) -> "Value":
        return Value(f"xor({_text(self)}, {_text(other)})")

    def __eq__(self, other: object) -> "Value":  # type: ignore[override]
        return self._with("==", other)  # type: ignore[arg-type]

    def __ne__(self, other: object) -> "Value":  # type: ignore[override]
        return self._with("!=", other)  # type: ignore[arg-type]

    def __lt__(self, other: Number) -> "Value":
        return self._with("<", other)

    def __le__(self, other: Number) -> "Value":
        return self._with("<=", other)

    def __gt__(self, other: Number) -> "Value":
        return self._with(">", other)

    def __ge__(self, other: Number) -> "Value":
        return self._with(">=", other)

    def __and__(self, other: "Value") -> "Value":
        return self._with("and", other)

    def __or__(self, other: "Value") -> "Value":
        return self._with("or", other)

    def __invert__(self) -> "Value":
        return Value(f"(not {_text(self)})")

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        raise TypeError(
            "this value depends on the rank, which is not known while Python runs; "
            "use algorithm.when(condition), &, | and ~ instead of if, and, or and not"
        )

    def __repr__(self) -> str:
        return self.text


def _text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, Value)):
        raise TypeError(f"expected a whole number or a value of the language (got {value!r})")
    return value.text if isinstance(value, Value) else str(value)


def call(function: str, *arguments: Number) -> Value:
    """Calls a function of the language: `call("power", 2, hop)`, `call("log2", n)`."""
    return Value(f"{function}({', '.join(_text(argument) for argument in arguments)})")


def choose(condition: Value, then: Number, otherwise: Number) -> Value:
    """Returns the expression that is `then` if the condition is true, else `otherwise`."""
    return Value(f"(if {_text(condition)} then {_text(then)} else {_text(otherwise)})")


rank, ranks, root = Value("rank"), Value("ranks"), Value("root")
node, nodes, gpu, gpus = Value("node"), Value("nodes"), Value("gpu"), Value("gpus")
chunks = Value("chunks")


class Place:
    """A range of a buffer."""

    def __init__(self, text: str) -> None:
        self.text = text

    def piece(self, index: Number, of: Number) -> "Place":
        """Divides the range into `of` equal pieces, and returns the piece with this index."""
        return Place(f"{self.text} piece {_text(index)} of {_text(of)}")

    def like(self, chunk: Number) -> "Place":
        """Returns this range of the scratch buffer with the length of chunk `chunk`."""
        return Place(f"{self.text} like {_text(chunk)}")


class Buffer:
    """A buffer: `data`, `input`, `output` or `scratch`.

    `data[a]` is chunk a, and `data[a:b]` are chunks a to b - 1.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getitem__(self, index: Union[Number, slice]) -> Place:
        if isinstance(index, slice):
            if index.step is not None or index.stop is None:
                raise TypeError("chunks are sliced as data[first:end]")
            first = 0 if index.start is None else index.start
            last = index.stop - 1
            return Place(f"{self._name}[{_text(first)} to {_text(last)}]")
        return Place(f"{self._name}[{_text(index)}]")

    def count(self, first: Number, number: Number) -> Place:
        """Returns `number` chunks, beginning with `first`."""
        return Place(f"{self._name}[{_text(first)} count {_text(number)}]")


class Algorithm:
    """Builds the text of an algorithm, lane by lane and statement by statement."""

    data, input, output = Buffer("data"), Buffer("input"), Buffer("output")
    scratch = Buffer("scratch")

    def __init__(
        self,
        name: str,
        *,
        collective: str = "all_reduce",
        chunks: Number = ranks,
        scratch: Optional[Number] = None,
        slots: Optional[Number] = None,
        symmetry: Optional[str] = None,
    ) -> None:
        self.name = name
        #: The file that the algorithm was saved to.
        self.path: Optional[str] = None
        self._lines = [f"algorithm {name}", f"collective {collective}", f"chunks {_text(chunks)}"]
        if scratch is not None:
            self._lines.append(f"scratch {_text(scratch)}")
        if slots is not None:
            self._lines.append(f"slots {_text(slots)}")
        if symmetry is not None:
            self._lines.append(f"symmetry {symmetry}")
        self._depth = 0

    # --- Declarations ---

    def parameter(self, name: str, default: int) -> Value:
        """Declares a number that a scenario may set: `custom { set: "NAME=8" }`."""
        self._head(f"parameter {name} = {_text(default)}")
        return Value(name)

    def require(self, condition: Value, text: str) -> None:
        """Rejects clusters for which the condition is false, with this text as the error.

        Texts of the language have one line and no double quotes; these become single quotes.
        """
        line = " ".join(text.split()).replace('"', "'")
        self._head(f'require {_text(condition)} "{line}"')

    def let(self, name: str, value: Number) -> Value:
        """Defines a named value, for the rest of the block or for all lanes that follow."""
        self._add(f"let {name} = {_text(value)}")
        return Value(name)

    # --- Lanes and blocks ---

    @contextlib.contextmanager
    def lane(
        self,
        name: Optional[str] = None,
        each: Optional[str] = None,
        first: Number = 0,
        last: Optional[Number] = None,
    ) -> Iterator[Value]:
        """Begins a lane. With `each`, begins one lane for each number from `first` to `last`.

        Yields the number of the lane.
        """
        head = "lane" if name is None else f"lane {name}"
        if each is not None:
            if last is None:
                raise TypeError("lane(each=…) needs last=…, the number of the last lane")
            head += f" for {each} from {_text(first)} to {_text(last)}"
        if self._depth > 0:
            raise TypeError("a lane cannot be inside of another lane")
        with self._block(head):
            yield Value(each or "0")

    @contextlib.contextmanager
    def loop(
        self, name: str, first: Number, last: Number, *, down: bool = False
    ) -> Iterator[Value]:
        """Repeats the block for the numbers from `first` to `last`, inclusive."""
        way = "down to" if down else "to"
        with self._block(f"for {name} from {_text(first)} {way} {_text(last)}"):
            yield Value(name)

    @contextlib.contextmanager
    def when(self, condition: Value) -> Iterator[None]:
        """Executes the block if the condition is true."""
        with self._block(f"if {_text(condition)}"):
            yield

    @contextlib.contextmanager
    def otherwise(self) -> Iterator[None]:
        """Executes the block if the condition of the preceding `when` is false."""
        if self._lines[-1].strip() != "}":
            raise TypeError("otherwise() follows a when() block")
        self._lines.pop()
        with self._block("} else"):
            yield

    # --- Statements ---

    def send(self, place: Place, *, to: Number, lane: Optional[str] = None) -> None:
        """Sends a message to another rank, to its lane with the same number or to `lane`."""
        self._statement(f"send {place.text} to {_peer(to, lane)}")

    def receive(
        self,
        place: Place,
        *,
        source: Number,
        lane: Optional[str] = None,
        to: Optional[Number] = None,
        to_lane: Optional[str] = None,
    ) -> None:
        """Receives a message from `source`. With `to`, also forwards the message."""
        text = f"receive {place.text} from {_peer(source, lane)}"
        if to is not None:
            text += f" then send to {_peer(to, to_lane)}"
        self._statement(text)

    def reduce(
        self,
        place: Place,
        *,
        source: Number,
        lane: Optional[str] = None,
        with_: Optional[Place] = None,
        then: str = "send",
        to: Optional[Number] = None,
        to_lane: Optional[str] = None,
    ) -> None:
        """Receives a message from `source`, and adds it to `place`.

        `with_`: adds the message to this range instead, and stores the sum at `place`. `to`: also
        forwards the sum; with `then="only send"`, the sum is not stored.
        """
        text = f"reduce {place.text}"
        if with_ is not None:
            text += f" with {with_.text}"
        text += f" from {_peer(source, lane)}"
        if to is not None:
            if then not in ("send", "only send"):
                raise TypeError('then= is "send" or "only send"')
            text += f" then {then} to {_peer(to, to_lane)}"
        self._statement(text)

    def copy(self, source: Place, target: Place) -> None:
        """Copies a range within the rank."""
        self._statement(f"copy {source.text} to {target.text}")

    def add(self, source: Place, target: Place) -> None:
        """Adds `source` to `target` within the rank."""
        self._statement(f"add {source.text} to {target.text}")

    def mark(self, name: str) -> None:
        """Defines a mark, for which other lanes can wait, at the current point of the lane."""
        self._statement(f"mark {name}")

    def wait_for(self, mark: str, *numbers: Number) -> None:
        """Lets the next step wait until another lane of the rank has passed the mark."""
        numbered = f"[{', '.join(_text(number) for number in numbers)}]" if numbers else ""
        self._statement(f"wait for {mark}{numbered}")

    def wait_for_lane(self, name: str) -> None:
        """Lets the next step wait until another lane has ended."""
        self._statement(f"wait for lane {name}")

    # --- The text ---

    def to_text(self) -> str:
        """Returns the algorithm in the language of docs/your-own-algorithm.md."""
        return "\n".join(self._lines) + "\n"

    def save(self, path: Path_) -> "Algorithm":
        """Writes the algorithm to a file, which scenarios name by `custom { file: "…" }`."""
        Path(path).write_text(self.to_text(), encoding="utf-8")
        self.path = os.fspath(path)
        return self

    def __fspath__(self) -> str:
        """Returns the path of the algorithm's file, so that an algorithm can replace a path.

        An algorithm that has no file is written to a temporary file, which is removed when Python
        ends.
        """
        if self.path is None:
            self.save(scratch_folder() / f"{self.name}.tutti-algorithm")
            temporary_files.add(os.path.abspath(str(self.path)))
        return os.path.abspath(str(self.path))

    def __repr__(self) -> str:
        return f"<tutti.Algorithm {self.name}>"

    # --- Implementation ---

    def _add(self, line: str) -> None:
        self.path = None  # the file, if there is one, no longer has this text
        self._lines.append("  " * self._depth + line)

    def _head(self, line: str) -> None:
        if self._depth > 0:
            raise TypeError("parameters and requirements come before lanes")
        self._add(line)

    def _statement(self, line: str) -> None:
        if self._depth == 0:
            raise TypeError("statements must be inside of a lane: with algorithm.lane():")
        self._add(line)

    @contextlib.contextmanager
    def _block(self, head: str) -> Iterator[None]:
        self._add(head + " {")
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            self._add("}")


def _peer(peer: Number, lane: Optional[str]) -> str:
    return _text(peer) if lane is None else f"{_text(peer)} lane {lane}"


def load_algorithm(path: Path_) -> Algorithm:
    """Loads an algorithm from an existing file."""
    if not Path(path).is_file():
        raise RequestError([Problem("there is no such file", file=os.fspath(path), code="missing")])
    algorithm = Algorithm(Path(path).stem)
    algorithm._lines = Path(path).read_text(encoding="utf-8").rstrip("\n").split("\n")
    algorithm.path = os.fspath(path)
    return algorithm
