"""Submissions: what participants hand in."""

from harness.submission.submission import Submission, find_baseline, find_submission, find_submissions

__all__ = ["Submission", "find_baseline", "find_submission", "find_submissions"]
