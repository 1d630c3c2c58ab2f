"""What stands in a parametrization for a case that only `make test-all` tries."""

from typing import Any

import pytest


def full(*values: object) -> Any:
    """A set of parameters that repeats what another one of the same test tries."""
    return pytest.param(*values, marks=pytest.mark.full)
