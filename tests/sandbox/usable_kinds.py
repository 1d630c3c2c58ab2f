"""Kinds of sandbox for tests; a test is skipped if its kind does not work here."""

from typing import TypeVar

import pytest

from harness.sandbox import Kind

K = TypeVar("K", bound=Kind)


def usable(kind: K) -> K:
    """Return the kind of sandbox, or skip the test with the reason why it does not work on this machine."""
    if (problem := kind.problem()) is not None:
        pytest.skip(str(problem))
    return kind
