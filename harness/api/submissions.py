"""Submissions from what a caller gives: paths, names of measures, and Python functions."""

from collections.abc import Callable, Sequence
from typing import Any

from harness.api.progress import Progress
from harness.submission import Submission, find_submissions, from_function

#: A path, the name of a measure, or a Python function `complexity(model, dataset)`.
Argument = str | Callable[..., Any]


def find(given: Sequence[Argument] | Argument, names: Sequence[str], progress: Progress) -> list[Submission]:
