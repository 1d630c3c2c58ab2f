"""Text for readers."""

import pytest

from harness.text import size


@pytest.mark.parametrize(
    ("n_bytes", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (45_678, "45.7 kB"),
        (999_949, "999.9 kB"),
        (999_950, "1.0 MB"),
        (46_000_000, "46.0 MB"),
        (8_800_000_000, "8.8 GB"),
        (2_000_000_000_000, "2000.0 GB"),
    ],
)
def test_a_size_has_a_unit_that_fits(n_bytes: int, text: str) -> None:
    assert size(n_bytes) == text
