"""Tests of a long board in a real browser: its table, its drawings, and that the keyboard alone is enough."""

from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pytest
from site_examples import data_of, make_long, page_of

from harness.site import write_report, write_site
from tests.board.board_examples import GAPS, references, rows
from tests.records.evaluation_rows import request

pytestmark = pytest.mark.rest

DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}


def shown(page: Any) -> list[str]:
    rows = page.query_selector_all(".board tbody tr")
    return [row.query_selector("th > a").inner_text() for row in rows if row.is_visible()]


def sorted_by(page: Any) -> dict[str, str]:
    found = page.query_selector_all(".board th[aria-sort]")
    return {heading.inner_text(): heading.get_attribute("aria-sort") for heading in found}


def top_of(page: Any, selector: str) -> float:
    return float(page.locator(selector).first.bounding_box()["y"])


@pytest.fixture
def board(page: Any, long_site: str) -> Any:
    page.set_viewport_size(DESKTOP)
    page.goto(f"{long_site}/index.html")
    return page


def test_rows_are_those_that_hold_all_words_and_pass_the_filter(board: Any) -> None:
    board.get_by_label("Find").fill("TEAM jax")
    assert set(shown(board)) == {f"team_{number}" for number in range(0, 40, 6)}
    assert board.locator(".filter output").inner_text() == "7 of 40 rows"
    board.keyboard.press("Enter")
    assert len(shown(board)) == 7
    board.get_by_label("Find").fill("nobody")
    assert (shown(board), board.locator(".filter output").inner_text()) == ([], "0 of 40 rows")
    board.get_by_label("Find").fill("")
    everything = shown(board)
    assert len(everything) == 40
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
    links = [str(link.get_attribute("href")) for link in board.query_selector_all(".board tbody a")]
    for name in ("index.html", max(links, key=len), "tasks/toy.html"):
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


#: One huge value, and two that are equal.
VALUES = [1.0, 2.0, 3.0, 4.0, 5.0, 5.0, 7.0, 1e12]

Box = dict[str, float]


def boxes(page: Any, selector: str) -> list[Box]:
    """Return the boxes of elements in the window, from left to right."""
    return sorted((found.bounding_box() for found in page.query_selector_all(selector)), key=lambda box: box["x"])


def overlap(one: Box, other: Box) -> bool:
    sides = (("x", "width"), ("y", "height"))
    return all(one[at] < other[at] + other[size] and other[at] < one[at] + one[size] for at, size in sides)


def inside(one: Box, other: Box) -> bool:
    sides = (("x", "width"), ("y", "height"))
    return all(other[at] - 1 <= one[at] and one[at] + one[size] <= other[at] + other[size] + 1 for at, size in sides)


@pytest.fixture
def huge(tmp_path: Path) -> Path:
    """A directory with a site and a report of a measure with a huge value."""
    data = data_of(references(tmp_path / "reference"), rows("mine", VALUES))
    write_site(data, tmp_path / "site")
    write_report(page_of(data, "mine"), tmp_path / "mine.html")
    return tmp_path


@pytest.mark.parametrize("name", ["site/submissions/mine.html", "mine.html"])
def test_one_huge_value_leaves_room_for_the_others(page: Any, huge: Path, name: str) -> None:
    page.goto(f"file://{huge}/{name}")
    dots = ".scatter svg[role=group] circle"
    heights = sorted({round(dot["y"], 1) for dot in boxes(page, dots)})
    assert len(heights) == 7
    steps = [other - one for one, other in pairwise(heights)]
    assert max(steps) < 2.1 * min(steps)
    page.select_option("select[name=axes]", "values")
    heights = sorted(dot["y"] for dot in boxes(page, dots))
    assert heights[1] - heights[0] > 100 * (heights[-1] - heights[1])


def test_axes_say_what_they_are(page: Any, huge: Path) -> None:
    page.goto(f"file://{huge}/mine.html")

    def titles() -> list[str]:
        return [title.text_content() for title in page.query_selector_all(".scatter .view:not(.unseen) .title")]

    assert titles() == ["rank of the gap (1: smallest)", "rank of the measure (1: smallest)"]
    page.select_option("select[name=axes]", "values")
    assert titles() == ["generalization gap", "value of the measure"]


@pytest.mark.parametrize("width", [320, 700, 1280])
def test_texts_fit_and_keep_apart(page: Any, long_site: str, width: int) -> None:
    """No two neighbouring tick labels overlap, and no two names of dots."""
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"{long_site}/index.html")
    (frame,) = boxes(page, ".time svg[role=group]")
    texts = boxes(page, ".time svg[role=group] text")
    assert all(inside(text, frame) for text in texts)
    ticks, names = boxes(page, ".time .view .middle"), boxes(page, ".time .name")
    assert len(ticks) > 1
    assert not any(overlap(one, other) for one, other in pairwise(ticks))
    assert names
    assert not any(overlap(one, other) for one, other in combinations(names, 2))


def test_baselines_alone_are_drawn_like_submissions(page: Any, long_site: str, tmp_path: Path) -> None:
    write_site(make_long(tmp_path / "reference", n_rows=4, only_baselines=True), tmp_path / "site")
    for site, kinds, n_legends in ((f"file://{tmp_path}/site", {"c0"}, 0), (long_site, {"c0", "c1"}, 1)):
        page.goto(f"{site}/index.html")
        found = page.eval_on_selector_all(".time svg[role=group] circle", "dots => dots.map((dot) => dot.classList[0])")
        assert (set(found), page.locator(".time .legend").count()) == (kinds, n_legends)


#: Each page on a phone or on a desktop; the first page on both.
PAGES = [
    ("index.html", 390), ("index.html", 1280), ("submissions/team_0.html", 390), ("tasks/toy.html", 1280),
    ("reading.html", 1280), ("compare.html", 390),
]  # fmt: skip

#: Elements that a mouse can click; `[tabindex]` are boxes that scroll, and drawings.
CLICKABLE = "a[href]:not([tabindex='-1']), button, input, select, summary, [tabindex='0']"

#: Numbers the visible elements; returns the numbers of clickable elements, and of elements that only look clickable.
NUMBERED = """(clickable) => {
    const all = [...document.querySelectorAll("header *, main *, footer *")];
    all.forEach((element, number) => { element.dataset.number = number; });
    const seen = all.filter((element) => element.checkVisibility());
    const numbers = (elements) => elements.map((element) => Number(element.dataset.number));
    const pointed = seen.filter((element) => getComputedStyle(element).cursor === "pointer");
    return [numbers(seen.filter((element) => element.matches(clickable))),
            numbers(pointed.filter((element) => !element.closest(clickable + ", label")))];
}"""

#: Number of the focused element; whether it has an outline, and whether nothing lies before it.
FOCUSED = """() => {
    const element = document.activeElement, looks = getComputedStyle(element), box = element.getClientRects()[0];
    const x = Math.max(0, box.left) + Math.min(8, box.width / 2);
    const y = Math.max(0, box.top) + Math.min(8, box.height / 2);
    const before = document.elementFromPoint(x, y);
    return [Number(element.dataset.number ?? -1), looks.outlineStyle !== "none" && parseFloat(looks.outlineWidth) >= 1,
            before !== null && (element.contains(before) || before.contains(element))];
}"""


def visit(page: Any, key: str, limit: int) -> dict[int, tuple[bool, bool]]:
    """Press a key until an element has the focus twice; return element's number -> (has an outline, is visible)."""
    found: dict[int, tuple[bool, bool]] = {}
    for _ in range(limit):
        page.keyboard.press(key)
        number, *looks = page.evaluate(FOCUSED)
        if number in found:
            break
        found[number] = tuple(looks)
    found.pop(-1, None)  # the link that skips the navigation, and the page itself
    return found


@pytest.mark.parametrize(("name", "width"), PAGES)
def test_all_that_can_be_used_has_a_name_and_is_reached(page: Any, long_site: str, name: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 700})
    page.goto(f"{long_site}/{name}")
    clickable, pretended = page.evaluate(NUMBERED, CLICKABLE)
    assert pretended == []
    for selector in ("[tabindex='0']", "[role=img]", "[role=group]"):
        assert all(element.get_attribute("aria-label") for element in page.query_selector_all(selector)), selector
    for field in page.query_selector_all("input, select"):
        assert field.evaluate("field => field.ariaLabel || field.labels[0].textContent.trim().split(/\\s/)[0]")
    assert page.locator("th[data-sort]:not(:has(button))").count() == 0
    assert page.locator("th:not([data-sort])[aria-sort]").count() == 0
    for key in ("Tab", "Shift+Tab"):
        found = visit(page, key, len(clickable) + 5)
        assert set(clickable) - found.keys() == set()
        unseen = [page.locator(f"[data-number='{n}']").inner_text() for n, looks in found.items() if not all(looks)]
        assert unseen == [], key


def test_the_plot_of_times_is_walked_by_arrows(page: Any, long_site: str) -> None:
    page.goto(f"{long_site}/index.html")
    page.focus(".time svg")
    page.keyboard.press("Enter")
    assert page.url.endswith("index.html")
    told = []
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft"):
        page.keyboard.press(key)
        told.append(page.locator(".time output").inner_text())
    assert told[0] == told[2] != told[1]
    assert told[0].startswith("team_0 (runtime jax): 0.005 s per model, score ")
    page.keyboard.press("Space")
    page.wait_for_url("**/submissions/team_0.html")


def test_folded_tables_and_choices_are_operated_by_keys(page: Any, long_site: str) -> None:
    page.goto(f"{long_site}/submissions/team_0.html")
    page.focus("summary:has-text('Values, times')")
    page.keyboard.press("Enter")
    assert page.locator("details[open] details[open] tbody tr").count() == 8
    page.focus("select[name=axes]")
    page.keyboard.press("ArrowDown")
    assert page.locator(".view.values").is_visible()
    assert not page.locator(".view.ranks").is_visible()
