"""The columns of a table of models: those with a meaning of their own, and those that cannot be hyperparameters."""

import difflib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from harness.errors import UserError
from harness.text import printable
from scoring.grid import normalise

#: Columns with a meaning of their own; every other column is a hyperparameter.
FILE, WEIGHTS, INITIAL_WEIGHTS = "file", "weights", "initial_weights"
TRAIN, TEST = "train_accuracy", "test_accuracy"
OWN = (FILE, WEIGHTS, INITIAL_WEIGHTS, TRAIN, TEST)

_INDEX = re.compile(r"Unnamed: \d+|index|level_\d+")
WITHOUT_INDEX = "write the table without an index: index=False in pandas"

#: What tables of other programs have in place of commas.
_SEPARATORS = {";": "semicolons", "\t": "tabs"}

#: Words of which names of results consist, such as `val_acc`, `gen_gap` and `sparse_categorical_crossentropy`.
_ACCURACY = {"acc", "accuracy"}
_RESULT = {"auc", "crossentropy", "err", "error", "gap", "loss"}
_WHICH = {
    "best", "binary", "categorical", "dev", "eval", "final", "gen", "generalisation", "generalization", "last", "mean",
    "sparse", "test", "testing", "top", "train", "training", "val", "valid", "validation",
}  # fmt: skip


def require_header(path: Path, header: Sequence[str]) -> None:
    """Raise `UserError` unless the columns have distinct names, and the models' files one of them.

    Of a header without any of the own columns nothing is quoted but misspelt ones: it may be no table at all.
    """
    repeated = [name for name in header if header.count(name) > 1]
    if FILE in header and not repeated and "" not in header:
        return
    expected, remedy = f"a column {FILE!r}, distinct names", WITHOUT_INDEX if header[:1] == [""] else None
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
        found = f"{len(header)} other columns"
    if FILE not in header and (similar := difflib.get_close_matches(FILE, cells, n=1)):
        remedy = f"rename the column {header[cells.index(similar[0])]!r}"
    raise UserError("header", file=path, expected=expected, found=printable(found)[:200], remedy=remedy)


def require_hyperparameter(path: Path, name: str, cells: Iterable[str]) -> None:
    """Raise `UserError` for a column that cannot be meant as a hyperparameter, under whose name it would be taken."""
    if name in OWN:
        return
    if name.lower() in OWN:
        raise UserError("header", file=path, expected=f"{name.lower()!r}", found=repr(name), remedy="rename the column")
    if _INDEX.fullmatch(name):
        raise UserError("header", file=path, expected="no index", found=repr(name), remedy=WITHOUT_INDEX)
    words = {word.lower() for word in re.findall("[A-Z]?[a-z]+|[A-Z]+", name)}
    named = words & (_ACCURACY | _RESULT) and words <= _ACCURACY | _RESULT | _WHICH
    if (named and words & _ACCURACY) or difflib.get_close_matches(name.lower(), (TRAIN, TEST), cutoff=0.85):
        found, remedy = f"an accuracy, {name!r}", f"call it {TRAIN} or {TEST}, or leave it out"
    elif named and any(_is_number(cell) for cell in cells):  # a loss may also be the name of a function
        found, remedy = f"a result of training, {name!r}", "leave it out, or rename it if it was chosen before training"
    else:
        return
    raise UserError("header", file=path, expected="hyperparameters", found=found, remedy=remedy)


def _is_number(cell: str) -> bool:
    return cell != "" and not isinstance(normalise("", cell.removesuffix("%")), str)
