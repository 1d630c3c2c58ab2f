"""Notes on the grid of hyperparameters that a table's models form: empty cells, and ways to fill or avoid them."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice, product

from harness.text import counted
from scoring import MINIMUM_HYPERPARAMETERS, Grid

#: With at most this number of models, a hyperparameter with a different value in each model gets no note.
FEW = 3

#: A hyperparameter with at least this many values per model gets a note; full grids have at most 0.5.
MANY = 0.75

#: Maximum number of listed empty cells.
LISTED = 12

#: Maximum number of examined cells; larger grids are nearly empty.
MAX_CELLS = 100_000


def notes_on_grid(grid: Grid) -> list[str]:
    """Return notes, a line each, about suspicious or too few hyperparameters and about empty cells."""
    lines = [f"{name} has one value, {grid.values[name][0]!r}, in all models: it cannot order them"
             for name in grid.names if name not in grid.varying]  # fmt: skip
    if len(grid.varying) > 1 and len(grid.codes) > FEW:
        lines += [f"{name} has {len(grid.values[name])} values in {len(grid.codes)} models, like results or numbers: "
                  "is it a hyperparameter?"
                  for name in grid.varying if len(grid.values[name]) >= MANY * len(grid.codes)]  # fmt: skip
    if len(grid.varying) < MINIMUM_HYPERPARAMETERS:
        needed = f"the official score needs {MINIMUM_HYPERPARAMETERS} hyperparameters that vary"
        lines.append(f"{needed}, found {len(grid.varying)}")
    return lines if grid.is_complete else [*lines, *_of_empty_cells(grid)]


def _of_empty_cells(grid: Grid) -> Iterator[str]:
    filled = set(map(tuple, grid.codes.tolist()))
    number = grid.n_cells - len(filled)
    yield f"the grid has {grid.n_cells} cells and {len(filled)} models; {counted(number, 'cell')} without a model:"
    candidates = islice(product(*map(range, grid.sizes)), MAX_CELLS)
    empty = list(islice((cell for cell in candidates if cell not in filled), LISTED))
    for cell in empty:
        yield "  " + ", ".join(_setting(grid, name, code) for name, code in zip(grid.names, cell, strict=True))
    if number > len(empty):
        yield f"  and {number - len(empty)} more"
    yield "add the models of these cells; without them the task has no official score"
    yield from (f"or {advice}" for advice in _smaller_grids(grid))


def _smaller_grids(grid: Grid) -> Iterator[str]:
    """Yield advice for each way to leave out models or a hyperparameter so that an official score exists."""
    cells = [tuple(cell) for cell in grid.codes.tolist()]
    for column, name in enumerate(grid.names):
        without = [cell[:column] + cell[column + 1 :] for cell in cells]
        if len(set(without)) == len(cells) and _has_score(without):
            yield f"leave out the column {name}: the other hyperparameters tell the models apart"
        for code, count in sorted(Counter(cell[column] for cell in cells).items()):
            which = f"{counted(count, 'model')} with {_setting(grid, name, code)}"
            if _has_score([cell for cell in cells if cell[column] != code]):
                yield f"leave out the {which}"
            if _has_score([cell for cell in cells if cell[column] == code]):
                yield f"keep only the {which}"


def _has_score(cells: Sequence[Sequence[int]]) -> bool:
    """Whether a grid with these distinct cells has an official score: it is full, and enough hyperparameters vary."""
    sizes = [len(set(column)) for column in zip(*cells, strict=True)]
    varying = sum(size > 1 for size in sizes)
    return varying >= MINIMUM_HYPERPARAMETERS and math.prod(sizes) == len(cells)


def _setting(grid: Grid, name: str, code: int) -> str:
    return f"{name}={grid.values[name][code]}"
