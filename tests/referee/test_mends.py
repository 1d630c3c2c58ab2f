"""Tests of the fixes that `python -m tests.referee.mends` undoes: each is still in the code."""

import pytest

from tests.referee.mends import MENDS, ROOT, Mend


@pytest.mark.parametrize("mend", MENDS.values(), ids=MENDS)
def test_a_mend_is_where_it_is_looked_for(mend: Mend) -> None:
    assert (ROOT / mend.file).read_text().count(mend.now) == 1
