"""Tests of the first page: it names the leaders, and claims no more than the board's ranks and groups."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from site_examples import data_of, pages_of

from harness.board.verdict import verdict
from harness.records import Evaluation
from harness.site import verify_site, write_site
from tests.board.board_examples import GAPS, MEASURE, board_of, references, rows
from tests.records.evaluation_rows import request

TIES = [1.0, 2.0] * 4


def sentence(directory: Path, everything: Sequence[Evaluation], withheld: Sequence[str] = ()) -> str:
    board = board_of(everything, references(directory), withheld)
    found = verdict(board, ["page"] * len(board.rows))
    said = ["".join(words.text for words in pieces) for pieces in (found.lead, found.rest)]
    assert found.scope == (SCOPE if board.comparison and len(said[1]) > 0 and "no row has" not in said[1] else "")
    return "".join(said)


SCOPE = "This applies to these tasks, with networks trained anew; fewer than 4 tasks say nothing about others."

ANEW = " If these networks were trained anew, it would score 100.0 to 100.0 (90 % interval)."

#: Eight models are too few: one of 16 permutations within a pair of hyperparameters is always as good.
LUCK = ", maybe by chance"
CHANCE = f"{LUCK}{ANEW} Chance gives 26.5 and could explain the leading score (p = 0.0723)."
OF_TWO = f"{LUCK}{ANEW} Chance gives 26.5 and could explain the leading score (p = 0.0723, for the best of 2 rows)."


@pytest.mark.parametrize(
    ("everything", "expected"),
    [
        ([], "Nobody has submitted anything yet."),
        (rows("a", GAPS, sandbox="none"), "Nobody has a rank: all rows ran outside the sandbox."),
        (rows("a", GAPS[:7]), "Nobody has a score yet."),
        (rows("a", GAPS), f"a leads with 100.0{CHANCE} There is no other complete row to compare it with."),
        ([*rows("a", GAPS), *rows("b", GAPS)], f"a and b lead with 100.0{OF_TWO.replace(ANEW, '')}"),
        ([*rows("a", GAPS), *rows("b", [1.0] * 8), *rows("c", GAPS[:7])], f"a leads with 100.0{OF_TWO}"),
        (
            [*rows("a", MEASURE, is_baseline=True), *rows("b", TIES)],
            f"a (baseline) leads with 29.5{LUCK} If these networks were trained anew, it would score 10.1 to 59.2 "
            "(90 % interval). The best submission is b, rank 2. Chance gives 25.6 and could explain the leading score "
            "(p = 0.5262, for the best of 2 rows).",
        ),
    ],
)
def test_the_sentence(tmp_path: Path, everything: Sequence[Evaluation], expected: str) -> None:
    assert sentence(tmp_path, everything) == expected


def test_rounded_scores_say_nothing_of_certainty(tmp_path: Path) -> None:
    everything = [*rows("a", GAPS), *rows("b", MEASURE)]
    expected = "a leads with 100.0 Whether luck explains the lead is withheld, since a task is hidden."
    assert sentence(tmp_path, everything, ["toy"]) == expected


def test_title_and_organiser_are_text_and_the_date_is_that_of_the_records(tmp_path: Path) -> None:
    tasks, everything = references(tmp_path / "reference"), rows("a", GAPS)
    data = data_of(tasks, everything, [request(everything[0])], title="<b>Cup", organiser="A & B")
    page = pages_of(data)["index.html"]
    assert "<title>&lt;b&gt;Cup</title>" in page
    assert "A &amp; B · newest request 2026-01-02" in page
    write_site(data, tmp_path / "site")
    assert verify_site(tmp_path / "site").differences == ()


def test_rows_that_chance_could_explain_are_grey_and_others_are_not(tmp_path: Path) -> None:
    """Eight models are too few to exclude chance, so rows are grey; being a baseline makes no row grey."""
    tasks = references(tmp_path / "few")
    records = [*rows("a", GAPS, is_baseline=True), *rows("b", TIES)]
    assert pages_of(data_of(tasks, records))["index.html"].count('faint">') == 4  # with the yardsticks
    page = pages_of(data_of(tasks, records, withheld=["toy"]))["index.html"]
    assert "faint" not in page.split("<tbody>")[1].split("</tbody>")[0]
    assert "docs/" not in page
