"""Reads the table of models to import: a CSV file with a row for each model.

The columns named in `OWN` have a fixed meaning; every other column is a hyperparameter. Columns that are probably no
hyperparameters, such as indices and results of training, are refused.
"""

import csv
import difflib
import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from harness.errors import UserError
from harness.format.problems import Problems
from harness.importer.stated import Stated, notes_on_rounding, read_stated, rounding_of
from harness.parsing import BOM
from harness.reading import read_text
from harness.text import counted, is_printable, printable
from scoring import Grid, GridError
from scoring.grid import MAX_HYPERPARAMETERS, normalise

#: Names of the columns with a fixed meaning.
FILE, WEIGHTS, INITIAL_WEIGHTS = "file", "weights", "initial_weights"
TRAIN_ACCURACY, TEST_ACCURACY = "train_accuracy", "test_accuracy"
OWN = (FILE, WEIGHTS, INITIAL_WEIGHTS, TRAIN_ACCURACY, TEST_ACCURACY)

_INDEX = re.compile(r"Unnamed: \d+|index|level_\d+")
WITHOUT_INDEX = "write the table without an index: index=False in pandas"

#: Separators that programs write instead of commas.
_SEPARATORS = {";": "semicolons", "\t": "tabs"}

#: Words in the names of results, such as `val_acc`, `gen_gap` and `sparse_categorical_crossentropy`.
_ACCURACY = {"acc", "accuracy"}
_RESULT = {"auc", "crossentropy", "err", "error", "gap", "loss"}
_WHICH = {
    "best", "binary", "categorical", "dev", "eval", "final", "gen", "generalisation", "generalization", "last", "mean",
    "sparse", "test", "testing", "top", "train", "training", "val", "valid", "validation",
}  # fmt: skip

#: Maximum number of rows; maximum size of the file in bytes.
MAX_ROWS = 10_000
MAX_BYTES = 16 * 1024**2


def require_header(path: Path, header: Sequence[str]) -> None:
    """Raise `UserError` unless all columns have different names, one is called "file", and they are not too many.

    If the table has none of the names in `OWN`, it may be a private file. Then the message quotes only a repeated name,
    or a name similar to "file".
    """
    if (number := sum(name not in OWN for name in header)) > MAX_HYPERPARAMETERS:
        raise UserError("header", file=path, expected=f"at most {MAX_HYPERPARAMETERS} hyperparameters", found=number)
    repeated = [name for name in header if header.count(name) > 1]
    if FILE in header and not repeated and "" not in header:
        return
    expected, remedy = f"a column {FILE!r} and distinct names", WITHOUT_INDEX if header[:1] == [""] else None
    first, cells = ",".join(header[:1]), [name.lower() for name in header]
    for separator, name in _SEPARATORS.items():
        if separator in first and FILE in [cell.strip().lower() for cell in first.split(separator)]:
            remedy = "separate columns by commas, and write decimals with a point"
            raise UserError("separator", file=path, expected="commas", found=name, remedy=remedy)
    if repeated:
        found = f"{repeated[0]!r} twice"
    elif set(OWN) & set(header):
        found = ", ".join(header)
    else:
        found = counted(len(header), "other column") if header else "an empty table"
    if FILE not in header and (similar := difflib.get_close_matches(FILE, cells, n=1)):
        remedy = f"rename the column {header[cells.index(similar[0])]!r}"
    raise UserError("header", file=path, expected=expected, found=printable(found)[:200], remedy=remedy)


def require_hyperparameter(path: Path | str, name: str, cells: Iterable[str]) -> None:
    """Raise `UserError` if a column is probably no hyperparameter; `cells` are the values in the column."""
    if name in OWN:
        return
    if name.lower() in OWN:
        raise UserError("header", file=path, expected=f"{name.lower()!r}", found=repr(name), remedy="rename the column")
    if _INDEX.fullmatch(name):
        raise UserError("header", file=path, expected="no index", found=repr(name), remedy=WITHOUT_INDEX)
    words = {word.lower() for word in re.findall("[A-Z]?[a-z]+|[A-Z]+", name)}
    named = words & (_ACCURACY | _RESULT) and words <= _ACCURACY | _RESULT | _WHICH
    if (named and words & _ACCURACY) or difflib.get_close_matches(
        name.lower(), (TRAIN_ACCURACY, TEST_ACCURACY), cutoff=0.85
    ):
        found, remedy = f"an accuracy, {name!r}", f"call it {TRAIN_ACCURACY} or {TEST_ACCURACY}, or leave it out"
    elif named and any(_is_number(cell) for cell in cells):  # a column `loss` may also contain names
        found, remedy = f"a result of training, {name!r}", "leave it out, or rename it if it was chosen before training"
    else:
        return
    raise UserError("header", file=path, expected="hyperparameters", found=found, remedy=remedy)


def _is_number(cell: str) -> bool:
    return cell != "" and not isinstance(normalise("", cell.removesuffix("%")), str)


def _is_finite(cell: str) -> bool:
    """Whether a cell is text or a finite number, and not infinity or NaN (a missing value)."""
    try:
        return math.isfinite(float(cell))
    except ValueError:
        return True


@dataclass(frozen=True)
class ImportedRow:
    """A model's row in the table. None means an empty cell."""

    where: str  #: file and line of the row, for messages
    file: Path  #: file of the model, or of its architecture
    weights: Path | None = None  #: file of the weights, if they are not in `file`
    hyperparameters: Mapping[str, str] = field(default_factory=dict)  #: name -> value as text
    train: Stated | None = None  #: accuracy on the training data, as the table states it
    test: Stated | None = None  #: accuracy on the test data, as the table states it
    initial: Path | None = None  #: file of the weights before training
    exported: Path | None = None  #: `.pt2` file from which `file` and `weights` were translated
    outputs: NDArray[np.float32] | None = None  #: PyTorch's outputs (n, classes) for the first training examples

    @property
    def name(self) -> str:
        """The name of the file, with which messages refer to the model."""
        return str(self.exported or self.weights or self.file)


@dataclass(frozen=True)
class Table:
    """The table of models to import."""

    rows: tuple[ImportedRow, ...]
    grid: Grid  #: the grid of the models' hyperparameters
    text: str

    @property
    def notes(self) -> list[str]:
        """Warnings about columns whose accuracies are rounded too coarsely."""
        stated = {TRAIN_ACCURACY: [row.train for row in self.rows], TEST_ACCURACY: [row.test for row in self.rows]}
        return [line for name, cells in stated.items() for line in notes_on_rounding(name, [c for c in cells if c])]


def read_table(path: Path) -> Table:
    """Read the table of models. Relative paths in it start at its directory.

    Raises `UserError` with all problems: the file is not CSV, a column or cell is missing, an accuracy is not a number
    in [0, 1], or two rows have the same model or the same hyperparameters.
    """
    text = read_text(path, MAX_BYTES)
    header, lines = _parse(text, path)
    problems = Problems()
    cells = {number: dict(zip(header, line, strict=False)) for number, line in lines}
    rounding = {
        name: rounding_of(row.get(name, "") for row in cells.values()) for name in (TRAIN_ACCURACY, TEST_ACCURACY)
    }
    rows = [problems.attempt(_row, path, number, cells[number], len(header), line, rounding) for number, line in lines]
    found = [row for row in rows if row is not None]
    problems.attempt(_require_distinct, found)
    problems.raise_if_any()
    return Table(tuple(found), grid_of(path, found), text)


def _parse(text: str, path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return the header, and (line number, cells) of each row that is not empty; raises `UserError` if it is no CSV."""
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
        wrong = [cell for cell in cells if not is_printable(cell)]
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
            raise UserError(name, file=where, expected="a value", found="an empty cell")
    weights, initial = (path.parent / cells[name] if cells.get(name) else None for name in (WEIGHTS, INITIAL_WEIGHTS))
    train, test = (
        read_stated(where, name, cells.get(name, ""), rounding[name]) for name in (TRAIN_ACCURACY, TEST_ACCURACY)
    )
    return ImportedRow(where, path.parent / cells[FILE], weights, hyperparameters, train, test, initial)


def _require_distinct(rows: Sequence[ImportedRow]) -> None:
    seen: dict[tuple[Path, Path | None], ImportedRow] = {}
    for row in rows:
        if (other := seen.setdefault((row.file, row.weights), row)) is not row:
            raise UserError("one model twice", file=row.where, expected="each model in one row", found=other.where)


def grid_of(path: Path | str, rows: Sequence[ImportedRow]) -> Grid:
    """Return the grid of the rows' hyperparameters; raises `UserError` for equal rows, and for infinity or NaN."""
    for row in rows:
        for name, value in row.hyperparameters.items():
            if not _is_finite(value):
                raise UserError(name, file=row.where, expected="text or a finite number", found=value)
    current = {row.where: {name: normalise(name, value) for name, value in row.hyperparameters.items()} for row in rows}
    names = rows[0].hyperparameters
    possible = {name: list(dict.fromkeys(values[name] for values in current.values())) for name in names}
    try:
        return Grid.from_hyperparameters(possible, current)
    except GridError as error:
        remedy = "a column may be missing: the hyperparameter in which these models differ"
        raise UserError(str(error), file=path, remedy=remedy) from error
