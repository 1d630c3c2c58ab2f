"""The table of models to import: a CSV file with one row per model."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import UserError
from harness.format.problems import Problems
from harness.importer.columns import (
    FILE,
    INITIAL_WEIGHTS,
    OWN,
    TEST,
    TRAIN,
    WEIGHTS,
    require_header,
    require_hyperparameter,
)
from harness.importer.stated import Stated, notes_on_rounding, read_stated, rounding_of
from harness.parsing import BOM
from harness.reading import read_text
from harness.text import printable
from scoring import Grid, GridError
from scoring.grid import Value, normalise

#: Most rows, and bytes of the file.
MAX_ROWS = 10_000
MAX_BYTES = 16 * 1024**2


@dataclass(frozen=True)
class ImportedRow:
    """One model.

    Attributes:
        where: table and line, for messages.
        file: the model, or its architecture.
        weights: file of the weights, if they are not in `file`.
        hyperparameters: name -> value as text.
        train: stated accuracy on the training data, if any.
        test: stated accuracy on the test data, if any.
        initial: file of the weights before training, if any.
    """

    where: str
    file: Path
    weights: Path | None
    hyperparameters: dict[str, str]
    train: Stated | None
    test: Stated | None
    initial: Path | None = None

    @property
    def name(self) -> str:
        """The files, as messages name the model."""
        return str(self.file if self.weights is None else self.weights)


@dataclass(frozen=True)
class Table:
    """The models to import, in the order of the table, the grid that they form, and the text that says so."""

    rows: tuple[ImportedRow, ...]
    grid: Grid
    text: str

    @property
    def possible(self) -> dict[str, list[Value]]:
        """Hyperparameter -> its values, in the order of the table."""
        return {name: list(self.grid.values[name]) for name in self.grid.names}

    @property
    def notes(self) -> list[str]:
        """Lines on stated accuracies that tell little."""
        stated = {TRAIN: [row.train for row in self.rows], TEST: [row.test for row in self.rows]}
        return [line for name, cells in stated.items() for line in notes_on_rounding(name, [c for c in cells if c])]


def read_table(path: Path) -> Table:
    """Read the table; paths in it start at its directory.

    Raises:
        UserError: the table is not CSV, a column or cell is missing, an accuracy is not a number in [0, 1], or two
            rows are of one model or cell. All problems of the table are collected.
    """
    text = read_text(path, MAX_BYTES)
    header, lines = _parse(text, path)
    problems = Problems()
    cells = {number: dict(zip(header, line, strict=False)) for number, line in lines}
    rounding = {name: rounding_of(row.get(name, "") for row in cells.values()) for name in (TRAIN, TEST)}
    rows = [problems.attempt(_row, path, number, cells[number], len(header), line, rounding) for number, line in lines]
    found = [row for row in rows if row is not None]
    problems.attempt(_require_distinct, found)
    problems.raise_if_any()
    return Table(tuple(found), _grid(path, found), text)


def _parse(text: str, path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return the header and the lines, with their numbers, that are not empty."""
    text = text.removeprefix(BOM)
    if text.lstrip().startswith(("{", "[")):
        raise UserError("not CSV", file=path, expected="text, one row per model", found="JSON")
    try:
        reader = csv.reader(io.StringIO(text, newline=""), strict=True)
        lines = [(reader.line_num, [cell.strip() for cell in cells]) for cells in reader if any(cells)]
    except csv.Error as error:
        raise UserError("not CSV", file=path, expected="text, one row per model", found=error) from error
    header = lines[0][1] if lines else []
    require_header(path, header)
    for column, name in enumerate(header):
        require_hyperparameter(path, name, (cells[column] for _, cells in lines[1:] if column < len(cells)))
    for number, cells in lines:
        wrong = [cell for cell in cells if not cell.isprintable()]
        if wrong:
            found = repr(printable(wrong[0])[:100])
            raise UserError("cells", file=f"{path}: line {number}", expected="printable text", found=found)
    if not any(name not in OWN for name in header):
        raise UserError("header", file=path, expected="a column for each hyperparameter", found="none")
    if not 1 < len(lines) <= MAX_ROWS + 1:
        raise UserError("rows", file=path, expected=f"1 to {MAX_ROWS} models", found=len(lines) - 1)
    return header, lines[1:]


def _row(
    path: Path, number: int, cells: dict[str, str], n_columns: int, line: Sequence[str], rounding: dict[str, float]
) -> ImportedRow:
    where = f"{path}: line {number}"
    if len(line) != n_columns:
        raise UserError("cells", file=where, expected=n_columns, found=len(line))
    hyperparameters = {name: cells[name] for name in cells if name not in OWN}
    for name in (FILE, *hyperparameters):
        if not cells[name]:
            raise UserError(name, file=where, expected="a value", found="none")
    weights, initial = (path.parent / cells[name] if cells.get(name) else None for name in (WEIGHTS, INITIAL_WEIGHTS))
    train, test = (read_stated(where, name, cells.get(name, ""), rounding[name]) for name in (TRAIN, TEST))
    return ImportedRow(where, path.parent / cells[FILE], weights, hyperparameters, train, test, initial)


def _require_distinct(rows: Sequence[ImportedRow]) -> None:
    seen: dict[tuple[Path, Path | None], ImportedRow] = {}
    for row in rows:
        if (other := seen.setdefault((row.file, row.weights), row)) is not row:
            raise UserError("one model twice", file=row.where, expected="each model in one row", found=other.where)


def _grid(path: Path, rows: Sequence[ImportedRow]) -> Grid:
    """Return the grid; values are normalised, so that `0.10` and `0.1` are one."""
    current = {row.where: {name: normalise(name, value) for name, value in row.hyperparameters.items()} for row in rows}
    names = rows[0].hyperparameters
    possible = {name: list(dict.fromkeys(values[name] for values in current.values())) for name in names}
    try:
        return Grid.from_hyperparameters(possible, current)
    except GridError as error:
        remedy = "a column may be missing: models that differ in nothing else differ in a hyperparameter"
        raise UserError(str(error), file=path, remedy=remedy) from error
