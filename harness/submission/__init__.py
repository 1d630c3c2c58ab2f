"""Submissions of participants, and baselines."""

from harness.submission.inspect import find_flaw
from harness.submission.submission import LIBRARY, Submission, find_baseline, find_submission, find_submissions

__all__ = ["LIBRARY", "Submission", "find_baseline", "find_flaw", "find_submission", "find_submissions"]
