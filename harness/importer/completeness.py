"""Notes on the grid that a table's models form: which cells are empty, and what can be done."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice, product

from harness.text import printable
from scoring import MINIMUM_HYPERPARAMETERS, Grid

#: Most empty cells that are listed.
LISTED = 12

#: Most cells that are looked at; larger grids are nearly empty.
MAX_CELLS = 100_000

_OTHER_SCORES = "without them the task has Kendall's coefficients only, no official score"


def notes_on_grid(grid: Grid) -> list[str]:
    """Return lines on hyperparameters and empty cells; none for a complete grid with an official score."""
    lines = [f"{printable(name)} has one value, {grid.values[name][0]!r}, in all models: it orders nothing"
             for name in grid.names if name not in grid.varying]  # fmt: skip
    if len(grid.varying) < MINIMUM_HYPERPARAMETERS:
        needed = f"the official score needs {MINIMUM_HYPERPARAMETERS} hyperparameters that vary"
        lines.append(f"{needed}, found {len(grid.varying)}; the task has Kendall's coefficients only")
    return lines if grid.is_complete else [*lines, *_of_empty_cells(grid)]


def _of_empty_cells(grid: Grid) -> Iterator[str]:
    filled = set(map(tuple, grid.codes.tolist()))
    number = grid.n_cells - len(filled)
    plural = "s" * (number != 1)
    yield f"the grid has {grid.n_cells} cells and {len(filled)} models; {number} cell{plural} without a model:"
    candidates = islice(product(*map(range, grid.sizes)), MAX_CELLS)
    empty = list(islice((cell for cell in candidates if cell not in filled), LISTED))
    for cell in empty:
        yield "  " + ", ".join(_setting(grid, name, code) for name, code in zip(grid.names, cell, strict=True))
    if number > len(empty):
        yield f"  and {number - len(empty)} more"
    yield f"add the models of these cells; {_OTHER_SCORES}"
    yield from (f"or {advice}" for advice in _smaller_grids(grid))


def _smaller_grids(grid: Grid) -> Iterator[str]:
    """Yield the ways to leave out models, or a hyperparameter, so that the others form a complete grid."""
    cells = grid.codes.tolist()
    for column, name in enumerate(grid.names):
        counts = Counter(cell[column] for cell in cells)
        for code, count in sorted(counts.items()):
            others = [cell for cell in cells if cell[column] != code]
            if others and _is_complete(others):
                yield f"leave out the {count} model{'s' * (count != 1)} with {_setting(grid, name, code)}"
            same = [cell for cell in cells if cell[column] == code]
            if len(counts) > 2 and len(same) > 1 and _is_complete(same):
                yield f"keep only the {count} models with {_setting(grid, name, code)}, without the column {name}"


def _is_complete(cells: Sequence[Sequence[int]]) -> bool:
    """Whether distinct cells fill the grid of the values that occur in them."""
    expected = 1
    for column in zip(*cells, strict=True):
        expected *= len(set(column))
    return expected == len(cells)


def _setting(grid: Grid, name: str, code: int) -> str:
    return printable(f"{name}={grid.values[name][code]}")
