"""Tests of pages of a board whose tasks have the names of its columns, or names that are hard to write."""

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from markupsafe import escape

from harness.board import chance
from harness.board.board import Board
from harness.board.leaderboard import build_board
from harness.site import gather, verify_site, write_site
from harness.site.table import DASH
from scoring import HeldOut
from tests.board.board_examples import GAPS, HARD_NAMES, MEASURE, collect, references, rows

pytestmark = pytest.mark.rest

#: Like headings and keys of the page, and in capitals; a link to a page of such a name must find it, too.
TASKS = [
    *HARD_NAMES[:4], *HARD_NAMES[-2:], "<b>a", "{{ a }}", "rank", "RANK", "submission", "kind", "score", "Score",
    "score:score", "interval", "drawn", "group", "own ±",
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


@pytest.fixture(scope="module", autouse=True)
def _few_permutations() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chance, "N_PERMUTATIONS", 10)
        yield


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
