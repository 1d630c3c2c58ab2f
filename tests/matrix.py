"""Marks cases of a parametrization that `make test` leaves to another command."""

from typing import Any

import pytest


def full(*values: object) -> Any:
    """A set of parameters that repeats what another one of the same test tries."""
    return pytest.param(*values, marks=pytest.mark.full)


def rest(*values: object) -> Any:
    """A set of parameters that `make test-rest` tries."""
    return pytest.param(*values, marks=pytest.mark.rest)
