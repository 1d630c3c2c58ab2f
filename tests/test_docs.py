"""The documents say what the code does."""

from pathlib import Path

import pytest

from harness.records.store import TABLE
from harness.sandbox.outcome import Outcome
from scoring import RULE

DOCS = Path(__file__).parent.parent / "docs"


@pytest.mark.parametrize("column", TABLE.columns, ids=lambda column: column.name)
def test_every_column_of_the_records_is_explained(column):
    assert f"| `{column.name}` |" in (DOCS / "records.md").read_text()
    assert column.comment in (DOCS / "records.md").read_text()


def test_every_outcome_is_explained():
    text = (DOCS / "outcomes.md").read_text()
    assert [outcome for outcome in Outcome if f"| `{outcome}` |" not in text] == []


def test_the_rule_is_quoted_to_the_letter():
    text = (DOCS / "outcomes.md").read_text().replace("\n> ", " ")
    assert RULE in text
