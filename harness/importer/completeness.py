"""Notes on the grid of hyperparameters in a table: its empty cells, and ways to fill or avoid them."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice, product

from harness.task.task_notes import notes_of_constants
from harness.text import counted
from scoring import MINIMUM_HYPERPARAMETERS, Grid

#: Up to this number of models, no note is made on a hyperparameter that differs in every model.
FEW = 3

#: A note is made on a hyperparameter with at least this number of values per model; in full grids, it is at most 0.5.
MANY = 0.75

#: Maximum number of empty cells in a note.
LISTED = 12

#: Maximum size of a grid whose empty cells are searched; larger grids are nearly empty.
MAX_CELLS = 100_000


def notes_on_grid(grid: Grid) -> list[str]:
    """Return notes (a line each) on suspicious or too few hyperparameters, and on empty cells."""
    lines = notes_of_constants(grid)
    if len(grid.varying) > 1 and len(grid.codes) > FEW:
        lines += [f"{name} has {len(grid.values[name])} values in {len(grid.codes)} models, as results or row numbers "
                  "do: is it a hyperparameter?"
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
    """Yield each way to get an official score by leaving out models or a hyperparameter, as advice."""
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
    """Whether a grid with these cells has an official score: it must be full, with enough hyperparameters that vary."""
    sizes = [len(set(column)) for column in zip(*cells, strict=True)]
    varying = sum(size > 1 for size in sizes)
    return varying >= MINIMUM_HYPERPARAMETERS and math.prod(sizes) == len(cells)


def _setting(grid: Grid, name: str, code: int) -> str:
    return f"{name}={grid.values[name][code]}"
