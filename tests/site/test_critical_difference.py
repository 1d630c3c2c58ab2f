"""Tests of the section on mean ranks of the first page, and of statements about other tasks on submissions' pages."""

import re
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from site_examples import data_of, pages_of

from harness.board.across_tasks import across_tasks
from harness.board.board import Board
from harness.site import SiteData, verify_site, write_site
from harness.site.board import leaderboard
from harness.site.critical_difference import LEFT, MOST, NAME_LENGTH, RIGHT, critical_difference
from tests.board.board_examples import GAPS, MEASURE, board_of, over_tasks, references, rows

pytestmark = pytest.mark.rest

SIX = [f"task{number}" for number in range(6)]


def small(directory: Path, *tasks: str, withheld: tuple[str, ...] = ()) -> SiteData:
    return data_of(references(directory, *tasks), over_tasks(*tasks), withheld=withheld)


def long_board(directory: Path, n_rows: int) -> Board:
    records = []
    for number, task in enumerate(SIX):
        random = np.random.default_rng(number)
        for own in range(n_rows):
            values = [gap + 0.02 * own * random.normal() for gap in GAPS]
            records += rows(f"{own}_<b>&{'x' * 60}", values, task)
    return board_of(records, references(directory, *SIX))


def picture(page: str) -> ElementTree.Element:
    (found,) = re.findall(r'<svg class="ranks".*?</svg>', page, re.DOTALL)
    return ElementTree.fromstring(found)


def test_the_first_page_has_the_tests_and_the_diagram_and_is_verified(tmp_path: Path) -> None:
    data = small(tmp_path / "reference", *SIX)
    page = pages_of(data)["index.html"]
    _, found = across_tasks(leaderboard(data))
    assert "<h2>Across tasks</h2>" in page
    assert f"gives p = {found.p_value:.4f} for" in page
    assert f"{found.critical_difference:.2f}, Nemenyi&#39;s critical difference at 0.05" in page
    texts = ["".join(one.itertext()) for one in picture(page).iter("text")]
    assert {"bestbest", "fairfair", "weakweak"} < set(texts)  # a name and its title
    assert not any("half" in text for text in texts)
    assert "not drawn" not in page
    write_site(data, tmp_path / "site")
    assert verify_site(tmp_path / "site").differences == ()


@pytest.mark.parametrize(("tasks", "withheld"), [(SIX[:5], ()), (SIX, ("task3",))])
def test_too_few_and_hidden_tasks_have_no_diagram(tmp_path: Path, tasks: list[str], withheld: tuple[str, ...]) -> None:
    page = pages_of(small(tmp_path, *tasks, withheld=withheld))["index.html"]
    assert "Across tasks" not in page
    assert '<svg class="ranks"' not in page


def test_rows_stand_at_their_mean_ranks_and_bars_join_groups(tmp_path: Path) -> None:
    board = long_board(tmp_path, 6)
    content = critical_difference(board)
    _, found = across_tasks(board)
    diagram = content["diagram"]
    ticks = dict(diagram["ticks"])
    per_rank = ticks[2] - ticks[1]
    places = [label.x for label in diagram["labels"]]
    assert places == sorted(places)
    assert np.diff(places) == pytest.approx(per_rank * np.diff(sorted(found.mean_ranks)))
    assert diagram["critical_end"] - LEFT == pytest.approx(per_rank * found.critical_difference)
    assert [(start, end) for start, end, _ in diagram["bars"]] == [(places[a], places[b]) for a, b in found.groups]


def test_of_many_rows_the_best_are_drawn(tmp_path: Path) -> None:
    board = long_board(tmp_path, 20)
    content = critical_difference(board)
    positions, _ = across_tasks(board)
    diagram, labels = content["diagram"], content["diagram"]["labels"]
    assert [label.name for label in labels] == [board.rows[position].label for position in positions[:MOST]]
    assert content["others"] == 5
    assert {len(label.short) for label in labels} == {NAME_LENGTH}
    lasts = [end for _, end, _ in diagram["bars"]]
    assert all(one < other for one, other in pairwise(lasts))  # no bar is part of another
    inside = [label.x for label in labels] + [x for _, x in diagram["ticks"]] + [diagram["critical_end"]]
    assert min(inside) >= LEFT
    assert max(inside) <= RIGHT + 1e-9
    for side in (True, False):
        lines = [label.y for label in labels if label.is_left == side]
        assert len(set(lines)) == len(lines)


def test_equal_rows_are_one_group_and_names_of_strangers_are_text(tmp_path: Path) -> None:
    records = [row for name in ("<b>a", "b", "c") for row in rows(name, GAPS, SIX)]
    known = references(tmp_path, *SIX)
    content = critical_difference(board_of(records, known))
    assert "gives p = 1.0000" in content["sentence"]
    assert len(content["diagram"]["bars"]) == 1
    page = pages_of(data_of(known, records))["index.html"]
    assert "<b>a<title><b>a" not in page
    assert "&lt;b&gt;a<title>&lt;b&gt;a</title>" in page


def test_the_page_of_a_submission_compares_it_over_tasks(tmp_path: Path) -> None:
    for n_tasks, headings in ((3, []), (4, ["on other tasks"]), (6, ["on other tasks", "Wilcoxon's p"])):
        tasks = SIX[:n_tasks]
        pages = pages_of(small(tmp_path / str(n_tasks), *tasks))
        table = pages["submissions/fair.html"].partition("<summary>Compared with others")[2]
        for heading in ("on other tasks", "Wilcoxon's p"):
            assert (f">{heading}</th>" in table) == (heading in headings)
        assert ("on other tasks like these</dt>" in pages["submissions/fair.html"]) == bool(headings)
        assert "Compared with others" not in pages["submissions/half.html"]


def test_a_p_value_over_many_tasks_is_not_printed_as_0(tmp_path: Path) -> None:
    tasks = [f"task{number}" for number in range(16)]
    records = [*rows("best", GAPS, tasks), *rows("fair", MEASURE, tasks)]
    page = pages_of(data_of(references(tmp_path, *tasks), records))["submissions/fair.html"]
    assert f'data-value="{2 / 2**16}">&lt;0.0001</td>' in page
