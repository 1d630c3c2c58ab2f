"""Tests of a long board's table in a real browser: search, filters, fixed head, sorting, long names on a phone."""

from pathlib import Path
from typing import Any

import pytest
from site_examples import data_of

from harness.site import write_site
from tests.board.board_examples import GAPS, references, rows
from tests.records.evaluation_rows import request

pytestmark = pytest.mark.rest

DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}


def shown(page: Any) -> list[str]:
    """Return the names of the rows that are not hidden, from top to bottom."""
    rows = page.query_selector_all(".board tbody tr")
    return [row.query_selector("th > a").inner_text() for row in rows if row.is_visible()]


def sorted_by(page: Any) -> dict[str, str]:
    """Return heading -> direction of each column that is marked as sorted."""
    found = page.query_selector_all(".board th[aria-sort]")
    return {heading.inner_text(): heading.get_attribute("aria-sort") for heading in found}


def top_of(page: Any, selector: str) -> float:
    return float(page.locator(selector).first.bounding_box()["y"])


@pytest.fixture
def board(page: Any, long_site: str) -> Any:
    page.set_viewport_size(DESKTOP)
    page.goto(f"{long_site}/index.html")
    return page


def test_rows_are_those_that_hold_all_words(board: Any) -> None:
    board.get_by_label("Find").fill("TEAM jax")
    assert set(shown(board)) == {f"team_{number}" for number in range(0, 40, 6)}
    assert board.locator(".filter output").inner_text() == "7 of 40 rows"
    board.keyboard.press("Enter")
    assert len(shown(board)) == 7
    board.get_by_label("Find").fill("nobody")
    assert (shown(board), board.locator(".filter output").inner_text()) == ([], "0 of 40 rows")
    board.get_by_label("Find").fill("")
    assert len(shown(board)) == 40


def test_filters_and_words_hold_together(board: Any) -> None:
    everything = shown(board)
    board.get_by_label("Show").select_option(label="baselines")
    assert shown(board) == [name for name in everything if name.startswith("measure_")]
    board.get_by_label("Find").fill("measure_1")
    assert set(shown(board)) == {f"measure_{number}" for number in (1, 10, 13, 16, 19)}
    board.get_by_label("Find").fill("")
    board.get_by_label("Show").select_option(label="fastest for their score")
    assert 0 < len(shown(board)) < 40


@pytest.mark.parametrize(
    ("width", "address", "scrolled"), [(390, "", "html"), (1280, "", "html"), (700, "#more", ".rows")]
)
def test_the_head_stays_in_sight(board: Any, width: int, address: str, scrolled: str) -> None:
    """The head stays at the top of the window, or of the box that scrolls a table wider than the window."""
    board.set_viewport_size({"width": width, "height": 600})
    board.goto(board.url.partition("#")[0] + address)
    board.evaluate("document.querySelector('.rows').scrollIntoView()")
    board.evaluate(f"document.querySelector('{scrolled}').scrollBy(0, 400)")
    assert top_of(board, ".rows tbody tr") < -50
    assert 0 <= top_of(board, ".rows thead th") < 60
    assert board.evaluate("""() => {
        const box = document.querySelector(".rows thead th").getBoundingClientRect();
        return document.elementFromPoint(box.x + 5, box.y + box.height / 2).closest("thead") !== null;
    }""")


def test_the_keyboard_sorts_and_brings_the_first_order_back(board: Any) -> None:
    best_first = shown(board)
    assert sorted_by(board) == {"Rank": "ascending"}
    board.click("text=More columns")
    board.focus(".board th button:text-is('s/model')")
    board.keyboard.press("Space")
    assert sorted_by(board) == {"s/model": "ascending"}
    fastest_first = shown(board)
    assert fastest_first != best_first
    board.keyboard.press("Enter")
    assert sorted_by(board) == {"s/model": "descending"}
    assert shown(board) == fastest_first[::-1]
    board.focus(".board th button:text-is('Rank')")
    board.keyboard.press("Enter")
    assert (sorted_by(board), shown(board)) == ({"Rank": "ascending"}, best_first)
    assert "resorted" not in board.get_attribute(".board table", "class")


def test_long_names_leave_the_score_in_sight_on_a_phone(board: Any, long_site: str) -> None:
    board.set_viewport_size(PHONE)
    places = board.evaluate("""() => [...document.querySelectorAll(".board tbody tr")].map((row) => {
        const score = row.querySelector("td.score").getBoundingClientRect();
        return [score.left, score.right, row.getBoundingClientRect().height];
    })""")
    assert all(0 < left < right <= PHONE["width"] for left, right, _ in places)
    assert max(height for *_, height in places) <= 160
    for name in ("index.html", "submissions/" + long_name(board), "tasks/toy.html"):
        board.goto(f"{long_site}/{name}")
        assert board.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], name


def test_every_line_of_the_table_has_the_columns_of_its_head(page: Any, tmp_path: Path) -> None:
    """On a phone, some columns are hidden in all rows, even in those of the noisy oracle and the hyperparameters."""
    records = [*rows("a", GAPS), *rows("b", run_seed=1), *rows("c", run_seed=2)]
    write_site(data_of(references(tmp_path / "reference"), records), tmp_path / "site")
    page.goto(f"file://{tmp_path}/site/index.html")
    for size in (PHONE, DESKTOP):
        page.set_viewport_size(size)
        counts = page.evaluate("""() => [...document.querySelectorAll(".board tr")].map(
            (row) => [...row.cells].filter((cell) => cell.checkVisibility()).length)""")
        assert len(counts) == 6  # with the head, and the hyperparameters
        assert len(set(counts)) == 1


def long_name(page: Any) -> str:
    """Return the file name of the page of the submission with the longest name."""
    links = [str(link.get_attribute("href")) for link in page.query_selector_all(".board tbody a")]
    return max(links, key=len).removeprefix("submissions/")


def test_a_long_description_makes_the_table_no_wider(page: Any, tmp_path: Path) -> None:
    widths, records, tasks = [], rows("mine"), references(tmp_path / "reference")
    for length in (10, 480):
        write_site(data_of(tasks, records, [request(records[0], description="a " * length)]), tmp_path / "site")
        page.goto(f"file://{tmp_path}/site/index.html")
        page.goto(f"{page.url}#more")
        widths.append(page.evaluate("document.querySelector('.rows table').offsetWidth"))
    assert widths[0] == widths[1]


def test_on_paper_the_rank_is_narrow_and_headings_stay_with_their_text(board: Any) -> None:
    board.emulate_media(media="print")
    board.set_viewport_size({"width": 703, "height": 1000})
    rank, name = (board.locator(f".rows thead .{column}").bounding_box()["width"] for column in ("rank", "name"))
    assert rank < 60 < 300 < name
    assert set(board.eval_on_selector_all("h2", "all => all.map((one) => getComputedStyle(one).breakAfter)")) == {
        "avoid"
    }
