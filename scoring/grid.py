"""The full factorial grid of hyperparameters with which the models of a task were trained."""

import math
import reprlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product

import numpy as np
from numpy.typing import NDArray

from scoring.errors import GridError

MAX_HYPERPARAMETERS = 100  #: real tasks have up to eight; the time of a score grows with the square of the number

Value = str | int | float | None
"""A hyperparameter's value in JSON (a Python boolean is an int)."""


@dataclass(frozen=True, eq=False)
class Grid:
    """The hyperparameters of a task's models. A cell is a combination of values; it holds at most one model.

    Raises:
        GridError: a cell holds two models.
    """

    models: tuple[str, ...]  #: model ids; arrays with a number per model have this order
    names: tuple[str, ...]  #: names of the hyperparameters, sorted
    values: dict[str, tuple[Value, ...]]  #: hyperparameter -> its possible values, converted by `normalise`
    codes: NDArray[np.intp]  #: position of each model's value in `values`, shape (n_models, n_names)

    def __post_init__(self) -> None:
        _require_distinct_cells(self)
        self.codes.setflags(write=False)

    @classmethod
    def from_hyperparameters(
        cls,
        possible_values: Mapping[str, Sequence[Value]],
        current_values: Mapping[str, Mapping[str, Value]],
    ) -> "Grid":
        """Build the grid from the possible values of the hyperparameters and the values of each model.

        256, 256.0 and "256" are the same value (`normalise`).

        Args:
            possible_values: hyperparameter -> its possible values.
            current_values: model id -> hyperparameter -> the model's value.

        Raises:
            GridError: there is no model, no hyperparameter, or more than `MAX_HYPERPARAMETERS`; a possible value is
                listed twice; a model has other hyperparameters or an impossible value; a cell holds two models.
        """
        if not possible_values or not current_values:
            found = f"found {len(current_values)} models and {len(possible_values)} hyperparameters"
            raise GridError(f"the grid is empty: expected at least one model and one hyperparameter, {found}")
        if len(possible_values) > MAX_HYPERPARAMETERS:
            raise GridError(f"expected at most {MAX_HYPERPARAMETERS} hyperparameters, found {len(possible_values)}")
        names = tuple(sorted(possible_values))
        values = {name: _distinct(name, possible_values[name]) for name in names}
        positions = {name: {value: code for code, value in enumerate(found)} for name, found in values.items()}
        codes = [_encode(model, current, positions) for model, current in current_values.items()]
        return cls(tuple(current_values), names, values, np.array(codes, dtype=np.intp))

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of possible values of each hyperparameter, in the order of `names`."""
        return tuple(len(self.values[name]) for name in self.names)

    @property
    def varying(self) -> tuple[str, ...]:
        """Names of the hyperparameters that have more than one possible value."""
        return tuple(name for name in self.names if len(self.values[name]) > 1)

    @property
    def n_cells(self) -> int:
        """Number of combinations of possible values."""
        return math.prod(self.sizes)

    @property
    def is_complete(self) -> bool:
        """Whether every cell holds a model."""
        return len(self.models) == self.n_cells

    def empty_cell(self) -> str:
        """Return a text that names the first cell without a model; "" if every cell has a model."""
        if self.is_complete:
            return ""
        # The grid may be astronomically large: stop at the first empty cell.
        filled = set(map(tuple, self.codes.tolist()))
        candidates = islice(product(*map(range, self.sizes)), len(filled) + 1)
        empty = next(cell for cell in candidates if cell not in filled)
        return f"no model in cell {_cell(self, empty)} ({self.n_cells} cells, {len(self.models)} models)"

    def group_numbers(self, by: Sequence[str]) -> NDArray[np.intp]:
        """Return each model's group number, from 0; models with equal values of all hyperparameters `by` share it."""
        columns = [self.names.index(name) for name in by]
        if not columns:
            return np.zeros(len(self.models), np.intp)
        _, numbers = np.unique(self.codes[:, columns], axis=0, return_inverse=True)
        return numbers.ravel()


def _distinct(name: str, listed: Sequence[Value]) -> tuple[Value, ...]:
    if not listed:
        raise GridError(f"hyperparameter {name!r}: expected at least one possible value, found none")
    values = tuple(normalise(name, value) for value in listed)
    first: dict[Value, int] = {}  # in time that grows with the number of values, not with its square
    for position, value in enumerate(values):
        if (earlier := first.setdefault(value, position)) != position:
            same = f"{listed[earlier]!r} and {listed[position]!r}"
            raise GridError(f"hyperparameter {name!r}: expected distinct possible values, found {same}")
    return values


Positions = Mapping[Value, int]
"""Possible value of a hyperparameter -> its position among the possible values."""


def _encode(model: str, current: Mapping[str, Value], positions: Mapping[str, Positions]) -> tuple[int, ...]:
    if current.keys() != positions.keys():
        expected, found = (", ".join(sorted(names)) or "none" for names in (positions, current))
        raise GridError(f"model {model!r}: expected the hyperparameters {expected}, found {found}")
    try:
        return tuple(_position(name, current[name], possible) for name, possible in positions.items())
    except GridError as error:
        raise GridError(f"model {model!r}: {error}") from None


def _position(name: str, current: Value, possible: Positions) -> int:
    value = normalise(name, current)
    if value not in possible:
        expected = ", ".join(map(repr, possible))
        raise GridError(f"hyperparameter {name!r}: expected one of {expected}, found {current!r}")
    return possible[value]


def _require_distinct_cells(grid: Grid) -> None:
    owner: dict[tuple[int, ...], str] = {}
    for model, row in zip(grid.models, grid.codes.tolist(), strict=True):
        if (other := owner.get(tuple(row))) is not None:
            raise GridError(f"cell {_cell(grid, row)}: expected one model, found {other!r} and {model!r}")
        owner[tuple(row)] = model


def _cell(grid: Grid, codes: Sequence[int]) -> str:
    named = zip(grid.names, codes, strict=True)
    return "(" + ", ".join(f"{name}={grid.values[name][code]!r}" for name, code in named) + ")"


def normalise(name: str, value: object) -> Value:
    """Convert a value of the hyperparameter `name` so that 256, 256.0 and "256" are equal.

    Numbers written as text become numbers, and integral floats become ints; other text stays unchanged. `convwidth` is
    truncated to an int, as in the competition's scoring program.

    Raises:
        GridError: the value is not text, a finite number or None.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        value = _number_or_text(value)
    if isinstance(value, float) and math.isfinite(value):
        return int(value) if value.is_integer() or name == "convwidth" else value
    if value is None or isinstance(value, str) or (isinstance(value, int) and abs(value) <= sys.float_info.max):
        return value
    raise GridError(f"hyperparameter {name!r}: expected a finite number, text or null, found {reprlib.repr(value)}")


def _number_or_text(text: str) -> float | int | str:
    if "_" in text:  # a label, although Python reads "1_0" as 10
        return text
    try:
        if abs(whole := int(text)) <= sys.float_info.max:
            return whole
    except ValueError:
        pass
    try:
        number = float(text)
    except ValueError:
        return text
    return number if math.isfinite(number) else text
