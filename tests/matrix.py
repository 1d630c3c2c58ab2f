"""Marks parametrized test cases that `make test` leaves to another command."""

from typing import Any

import pytest


def full(*values: object) -> Any:
    """Return a test case that only `make test-all` runs: it repeats another case of the same test in another form."""
    return pytest.param(*values, marks=pytest.mark.full)


def rest(*values: object) -> Any:
    """Return a test case that `make test` leaves to `make test-rest`."""
    return pytest.param(*values, marks=pytest.mark.rest)
