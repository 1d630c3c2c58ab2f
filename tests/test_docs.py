"""Tests that the documentation agrees with the code."""

from pathlib import Path

import numpy as np
import pytest

from harness.outcome import Outcome
from harness.records.evaluation import EVALUATIONS, REQUESTS
from harness.sandbox.kinds.landlock import MISSING
from harness.worker.legacy.names import RENAMED
from scoring import RULE

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"


@pytest.mark.parametrize("table", [EVALUATIONS, REQUESTS], ids=lambda table: table.name)
def test_every_column_of_the_records_is_explained(table):
    section = (DOCS / "records.md").read_text().partition(f"## The table `{table.name}`")[2].partition("\n## ")[0]
    explained = [row for row in section.splitlines() if row.startswith("| `")]
    assert explained == [row_of(column) for column in table.columns]


def row_of(column):
    kind = str(column.type).lower() + (", may be empty" if column.nullable else "")
    return f"| `{column.name}` | {kind} | {column.comment} |"


def test_packages_are_those_of_the_constraints():
    table = (DOCS / "submissions.md").read_text().split("| package | version |")[1].split("\n\n")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
    assert len(rows) > 5
    assert {"==".join(row) for row in rows} <= set((ROOT / "constraints.txt").read_text().splitlines())


def test_names_of_2020_are_explained():
    text = (DOCS / "submissions.md").read_text()
    functions = [name for name, today in RENAMED.items() if not isinstance(getattr(np, today), type)]
    others = ["in1d", "asscalar", "asfarray", "alen", "msort", "getargspec", "clock", "gcd", "names_of: 2020"]
    assert [name for name in (*functions, *others) if f"`{name}`" not in text] == []


def test_every_outcome_is_explained_and_the_rule_is_quoted_to_the_letter():
    text = (DOCS / "outcomes.md").read_text()
    assert [outcome for outcome in Outcome if f"| `{outcome}` |" not in text] == []
    assert RULE in text.replace("\n> ", " ")


def test_every_promise_names_what_shows_it():
    """Each row of the table of promises names tests, or letters of attacks, and all of them exist."""
    text = (DOCS / "security.md").read_text()
    table = text.split("| shown by |")[1].split("\n\n")[0]
    rows = [line.strip("| ").split("|")[-1].strip() for line in table.splitlines()[2:]]
    assert len(rows) > 10
    for shown_by in rows:
        for name in (part.strip(" `") for part in shown_by.split(",")):
            if name.startswith("tests/"):
                assert (ROOT / name).exists(), name
            elif name != "all":
                assert list((ROOT / "tests" / "redteam" / "attacks").glob(f"{name}_*.py")), name


def test_what_landlock_lacks_is_said():
    text = " ".join((DOCS / "security.md").read_text().replace("`", "").split()).lower()
    assert [lack for lack in MISSING if lack.split(":")[0].split(";")[0].lower() not in text] == []


def test_the_page_of_claims_is_that_of_the_findings():
    from tests.studies.science.kept import read_findings
    from tests.studies.science.page import page_text
    from tests.studies.science.settings import SETTINGS

    findings = {setting.name: read_findings(setting) for setting in SETTINGS.values()}
    assert (DOCS / "science.md").read_text() == page_text(findings)
