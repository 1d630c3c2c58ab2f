"""Tests of pages of boards with many tasks: mean ranks over tasks, statements about other tasks, and tasks whose names
are those of columns, or hard to write.
"""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from markupsafe import escape
from site_examples import data_of, pages_of

from harness.board import chance
from harness.board.across_tasks import across_tasks
from harness.board.board import Board
from harness.board.leaderboard import build_board
from harness.site import SiteData, gather, verify_site, write_site
from harness.site.board import leaderboard
from harness.site.critical_difference import LEFT, MOST, NAME_LENGTH, RIGHT, critical_difference
from harness.site.table import DASH
from scoring import HeldOut
from tests.board.board_examples import GAPS, HARD_NAMES, MEASURE, board_of, collect, over_tasks, references, rows

pytestmark = pytest.mark.rest


@pytest.fixture(scope="module", autouse=True)
def _few_permutations() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chance, "N_PERMUTATIONS", 10)
        yield


SIX = [f"task{number}" for number in range(6)]


def small(directory: Path, *tasks: str) -> SiteData:
    return data_of(references(directory, *tasks), over_tasks(*tasks))


@pytest.fixture(scope="module")
def six(tmp_path_factory: pytest.TempPathFactory) -> tuple[SiteData, dict[str, str]]:
    """The data and the pages of a site with six tasks."""
    data = small(tmp_path_factory.mktemp("six"), *SIX)
    return data, pages_of(data)


def long_board(directory: Path, n_rows: int) -> Board:
    records = []
    for number, task in enumerate(SIX):
        random = np.random.default_rng(number)
        for own in range(n_rows):
            values = [gap + 0.02 * own * random.normal() for gap in GAPS]
            records += rows(f"{own}_<b>&{'x' * 60}", values, task)
    return board_of(records, references(directory, *SIX))


def test_the_first_page_has_the_tests_and_the_diagram_and_is_verified(
    six: tuple[SiteData, dict[str, str]], tmp_path: Path
) -> None:
    data, page = six[0], six[1]["index.html"]
    _, found = across_tasks(leaderboard(data))
    assert "<h2>Across tasks</h2>" in page
    assert f"gives p = {found.p_value:.4f} for" in page
    assert f"{found.critical_difference:.2f}, Nemenyi&#39;s critical difference at 0.05" in page
    (picture,) = re.findall(r'<svg class="ranks".*?</svg>', page, re.DOTALL)
    texts = ["".join(one.itertext()) for one in ElementTree.fromstring(picture).iter("text")]
    assert {"bestbest", "fairfair", "weakweak"} < set(texts)  # a name and its title
    assert not any("half" in text for text in texts)
    assert "not drawn" not in page
    write_site(data, tmp_path / "site")
    assert verify_site(tmp_path / "site").differences == ()


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
    board = long_board(tmp_path, MOST + 2)
    content = critical_difference(board)
    positions, _ = across_tasks(board)
    diagram, labels = content["diagram"], content["diagram"]["labels"]
    assert [label.name for label in labels] == [board.rows[position].label for position in positions[:MOST]]
    assert content["others"] == 2
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


def test_the_page_of_a_submission_compares_it_over_tasks(six: tuple[SiteData, dict[str, str]], tmp_path: Path) -> None:
    """With less than six tasks, the first page has no diagram."""
    for n_tasks, headings in ((3, []), (5, ["on other tasks"]), (6, ["on other tasks", "Wilcoxon's p"])):
        pages = six[1] if n_tasks == 6 else pages_of(small(tmp_path / str(n_tasks), *SIX[:n_tasks]))
        table = pages["submissions/fair.html"].partition("<summary>Compared with others")[2]
        for heading in ("on other tasks", "Wilcoxon's p"):
            assert (f">{heading}</th>" in table) == (heading in headings)
        assert ("on other tasks like these</dt>" in pages["submissions/fair.html"]) == bool(headings)
        assert "Compared with others" not in pages["submissions/half.html"]
        assert all((text in pages["index.html"]) == (n_tasks == 6) for text in ("Across tasks", '<svg class="ranks"'))


#: Like headings and keys of the page, and in capitals; a link to a page of such a name must find it, too.
TASKS = [
    "a|b", "a_b", *HARD_NAMES[-2:], "<b>a", "{{ a }}", "rank", "RANK", "submission", "score", "score:score", "own ±",
]  # fmt: skip


class Table(HTMLParser):
    """The first table of a page, as texts and sort values of its cells, and all links."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.lines: list[list[list[str]]] = []
        self.links: list[str] = []
        self._inside = self._done = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.links += [found["href"] or ""] if "href" in found else []
        if tag == "tr" and not self._done:
            self.lines.append([])
        if tag in ("th", "td") and not self._done:
            self.lines[-1].append(["", found.get("data-value") or ""])
        self._inside = tag in ("th", "td", "a", "span", "wbr") and bool(self.lines) and not self._done

    def handle_endtag(self, tag: str) -> None:
        self._inside, self._done = False, self._done or tag == "table"

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.lines[-1][-1][0] += data


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Board]:
    known = references(tmp_path_factory.mktemp("reference"), *TASKS)
    collected = collect([*rows("mine", MEASURE, [*{*TASKS} - {"score"}]), *rows("mine", GAPS, "score")], known)
    held_out = {name: HeldOut([0.5] * 8, 1000) for name in known}
    board = build_board(collected, known, held_out=held_out)
    site = tmp_path_factory.mktemp("made") / "site"
    write_site(gather(collected.shown, board, known, dict.fromkeys(known, 1000), {}), site)
    return site, board


def test_each_cell_stands_below_its_heading(made: tuple[Path, Board]) -> None:
    site, board = made
    heading, line, *below = Table((site / "index.html").read_text()).lines
    (row,) = board.rows
    values = {column.key: str(column.value(row)) for column in board.columns}
    assert [tuple(cell) for cell in (line[0], line[2])] == [
        ("1", values["rank"]),
        (f"{row.score:.1f}", values["score"]),
    ]
    tasks = [column for column in board.columns if column.key.startswith("score:")]
    at = slice(4, 4 + len(tasks))  # after rank, submission, score and its drawing
    assert [text for text, _ in heading[at]] == [column.heading for column in tasks] == board.tasks
    assert [tuple(cell) for cell in line[at]] == [
        (row.tasks[name].official_text(1), values[f"score:{name}"]) for name in board.tasks
    ]
    assert line[at][board.tasks.index("score")][0] == "100.0" != line[2][0]
    more = [text for text, _ in heading[at.stop :]]
    assert more == [column.heading for column in board.columns if column.heading in more and column not in tasks]
    for shown, yardstick in zip(below, (board.yardsticks.oracle, board.yardsticks.fit), strict=True):
        scores = [yardstick.tasks[name] for name in board.tasks]
        assert [text for text, _ in shown[at]] == [f"{score.mean:.1f}" if score else DASH for score in scores]
        assert len(heading) == len(line) == len(shown)


def test_every_task_has_a_page_that_is_found(made: tuple[Path, Board]) -> None:
    site, board = made
    everywhere = Table((site / "index.html").read_text()).links
    links = [link for link in everywhere if link.startswith("tasks/")][-len(TASKS) :]
    assert len({link.casefold() for link in links}) == len(TASKS)
    for link, name in zip(links, board.tasks, strict=True):
        page = (site / link).read_text()
        assert f"{len(GAPS)} networks" in page
        assert f"<h1>{escape(name)}</h1>" in page.replace("_<wbr>", "_")


def test_it_is_verified_and_a_changed_cell_is_found(made: tuple[Path, Board]) -> None:
    site, _ = made
    assert verify_site(site).differences == ()
    page = site / "index.html"
    text = page.read_text()
    page.write_text(text.replace(">100.0<", ">99.0<", 1))
    assert any("index.html" in line for line in verify_site(site).differences)
    page.write_text(text)
