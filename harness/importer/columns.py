"""The columns of a table of models: those with a meaning of their own, and those that cannot be hyperparameters."""

import difflib
import re
from pathlib import Path

from harness.errors import UserError

#: Columns with a meaning of their own; every other column is a hyperparameter.
FILE, WEIGHTS = "file", "weights"
TRAIN, TEST = "train_accuracy", "test_accuracy"
OWN = (FILE, WEIGHTS, TRAIN, TEST)

#: What else accuracies are called, and the index that pandas adds: none is a hyperparameter.
_PART = "(?:train|training|test|testing|val|valid|validation|dev|eval)"
_ACCURACY = re.compile(rf"(?:{_PART}[ _.-]*)?acc(?:uracy)?(?:[ _.-]*{_PART})?", re.IGNORECASE)
_INDEX = re.compile(r"Unnamed: \d+|index|level_\d+")
WITHOUT_INDEX = "write the table without an index: index=False in pandas"


def require_hyperparameter(path: Path, name: str) -> None:
    """Raise `UserError` for a column that cannot be meant as a hyperparameter, under whose name it would be taken."""
    if name in OWN:
        return
    if _INDEX.fullmatch(name):
        raise UserError("header", file=path, expected="no index", found=repr(name), remedy=WITHOUT_INDEX)
    if _ACCURACY.fullmatch(name) or difflib.get_close_matches(name.lower(), (TRAIN, TEST), cutoff=0.85):
        remedy = f"call it {TRAIN} or {TEST}, or leave it out"
        raise UserError("header", file=path, expected="hyperparameters", found=f"an accuracy, {name!r}", remedy=remedy)
