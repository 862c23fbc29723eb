"""The fields of scenarios: messages with attributes, and lists."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Mapping, NoReturn, Union

from . import _core
from .errors import Problem, RequestError

if TYPE_CHECKING:
    from .scenario import Scenario


class Fields:
    """A message of a scenario. Its fields are attributes, which can be read and set.

    A field that is not set reads as None, even if it has a default. `help("steps")` describes a
    field with its default.
    """

    __slots__ = ("_scenario", "_path")
    _scenario: "Scenario"
    _path: str

    def __init__(self, scenario: "Scenario", path: str) -> None:
        object.__setattr__(self, "_scenario", scenario)
        object.__setattr__(self, "_path", path)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # also while copy or pickle creates the object
            raise AttributeError(name)
        return self._scenario._get(join(self._path, name))

    def __setattr__(self, name: str, value: Any) -> None:
        self._scenario.set(join(self._path, name), value)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._scenario, self._path)

    def __delattr__(self, name: str) -> None:
        self._scenario.set(join(self._path, name), None)

    def __dir__(self) -> list[str]:
        return [*object.__dir__(self), *self._state()["fields"]]

    def _state(self) -> dict[str, Any]:
        return _core.field_state(self._scenario.to_text(), self._path)

    def help(self, field: str = "") -> str:
        """Returns the schema's description of a field or of this message, with its default."""
        state = _core.field_state(self._scenario.to_text(), join(self._path, field) if field else self._path)
        text: str = state["help"]
        return text

    def to_dict(self) -> dict[str, Any]:
        """Returns the fields that are set, as nested dictionaries and lists."""
        result: dict[str, Any] = {}
        for name in self._state()["fields"]:
            value = self._scenario._get(join(self._path, name))
            if isinstance(value, Fields):
                if value._state()["written"]:
                    result[name] = value.to_dict()
            elif isinstance(value, Elements):
                if len(value) > 0:
                    result[name] = [v.to_dict() if isinstance(v, Fields) else v for v in value]
            elif value is not None:
                result[name] = value
        return result

    def __repr__(self) -> str:
        return f"<{self._path or 'scenario'}: {self.to_dict()}>"


class Elements:
    """A repeated field: a list of values or of messages."""

    __slots__ = ("_scenario", "_path")

    def __init__(self, scenario: "Scenario", path: str) -> None:
        self._scenario = scenario
        self._path = path

    def __len__(self) -> int:
        return int(_core.field_state(self._scenario.to_text(), self._path)["count"])

    def _at(self, index: int) -> str:
        length = len(self)
        try:
            number = operator.index(index)
        except TypeError:
            wrong_type(f"{self._path}: expected the number of an element", index)
        if not -length <= number < length:
            raise IndexError(f"{self._path} has {length} element{'' if length == 1 else 's'}")
        return f"{self._path}[{number % length}]"

    def __getitem__(self, index: Union[int, slice]) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return self._scenario._get(self._at(index))

    def __setitem__(self, index: int, value: Any) -> None:
        self._scenario.set(self._at(index), value)

    def __delitem__(self, index: int) -> None:
        self._scenario.set(self._at(index), None)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def _only(self, name: str) -> str:
        """Returns the path of a field of the only element; as in --set, [0] may be omitted."""
        length = len(self)
        if length > 1:
            raise AttributeError(f"{self._path} has {length} elements; use {self._path}[0].{name}")
        return join(f"{self._path}[0]", name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._scenario._get(self._only(name))

    def __setattr__(self, name: str, value: Any) -> None:
        if name in Elements.__slots__:
            object.__setattr__(self, name, value)
        else:
            self._scenario.set(self._only(name), value)

    def append(self, value: Any) -> None:
        """Adds an element: a value, or a mapping with the fields of a message."""
        self._scenario.set(f"{self._path}[{len(self)}]", value)

    def extend(self, values: Iterable[Any]) -> None:
        """Adds several elements."""
        for value in values:
            self.append(value)

    def __repr__(self) -> str:
        return repr([v.to_dict() if isinstance(v, Fields) else v for v in self])


def wrong_type(expected: str, value: Any) -> NoReturn:
    """Raises an error about a value of a type that was not expected."""
    text = f"{expected}, found a value of type {type(value).__name__}"
    raise RequestError([Problem(text, code="wrong-type")])


def kind_of(text: str, field: str) -> str:
    """Returns the kind of a field, or of a new element of a repeated field."""
    if field.endswith("]"):
        field = field[: field.rindex("[")]
    kind: str = _core.field_state(text, field)["kind"]
    return kind


def join(path: str, name: str) -> str:
    """Returns the path of a field of the message at `path`; "" is the scenario."""
    return f"{path}.{name}" if path else name


def typed_value(state: Mapping[str, Any]) -> Any:
    """Returns the value of a field that is set, as a Python object."""
    value = state["value"]
    if state["kind"] == "bool":
        return value == "true"
    if state["converted"] is not None:  # written with a unit
        converted = float(state["converted"])
        return int(converted) if state["kind"] == "whole" and converted.is_integer() else converted
    # A value that is not a number stays as the user wrote it. check() reports the error.
    try:
        if state["kind"] == "whole":
            return int(value, 0)
    except ValueError:
        pass
    try:
        if state["kind"] in ("whole", "number"):
            number = float(value)
            if state["kind"] == "number":
                return number
            if number.is_integer():  # written as 4e6 or 4000000.0
                return int(number)
    except ValueError:
        pass
    return value
