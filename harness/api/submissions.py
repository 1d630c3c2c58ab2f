"""Submissions from what a caller gives: paths, names of measures, and Python functions."""

from collections.abc import Callable, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from harness.api.progress import Progress
from harness.errors import UserError
from harness.names import alike
from harness.submission import Submission, find_submissions, from_function

#: A path, the name of a measure, or a Python function `complexity(model, dataset)`.
Argument = str | Path | Callable[..., Any]


def find(given: Sequence[Argument] | Argument, names: Sequence[str], progress: Progress) -> list[Submission]:
    """Return the submissions; `names` are those of all that are no measures, in their order, or none.

    Raises:
        UserError: there is no such submission, or two have one name.
    """
    arguments = [given] if isinstance(given, str | Path) or callable(given) else list(given)
    functions = [one for one in arguments if callable(one)]
    if functions and len(functions) < len(arguments):
        raise UserError("submissions", expected="functions only, or paths and names only", found="both")
    if not functions:
        return find_submissions([str(one) for one in arguments], names, progress.note)
    if names and len(names) != len(functions):
        raise UserError("names", expected=f"one for each function ({len(functions)} in all)", found=len(names))
    found = [from_function(one, name, progress.note) for one, name in zip_longest(functions, names)]
    if len({alike(one.name) for one in found}) < len(found):
        raise UserError("two functions have one name", found=", ".join(one.name for one in found))
    return found
