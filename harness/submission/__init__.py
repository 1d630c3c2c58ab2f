"""Submissions of participants, and measures that are called by name."""

from harness.submission.find import find_named, find_submission, find_submissions
from harness.submission.function import from_function
from harness.submission.inspect import find_flaw, find_problem
from harness.submission.library import find_baseline
from harness.submission.submission import Submission, write_files

__all__ = [
    "Submission", "find_baseline", "find_flaw", "find_named", "find_problem", "find_submission",
    "find_submissions", "from_function", "write_files",
]  # fmt: skip

#: Modules that other packages of `harness` may import.
MODULES = ("installed", "name", "template")
