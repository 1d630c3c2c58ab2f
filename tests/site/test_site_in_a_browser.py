"""The site in a real browser: from disk, without network, clicked through."""

from pathlib import Path
from typing import Any

import pytest
from site_examples import make

from harness.site import submission_page, write_report, write_site
from harness.site.pages import make_site


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("site")
    data, _ = make(directory / "reference")
    write_site(data, directory / "site")
    made = make_site(data)
    number = next(n for n, row in enumerate(made.board.rows) if row.submission == "half")
    write_report(submission_page(made.board, number, made.insights[number], made.pages), directory / "half.html")
    return directory


def names(page: Any) -> list[str]:
    return [cell.inner_text() for cell in page.query_selector_all("tbody th")]


def test_the_board_is_sorted_by_a_click_and_by_the_keyboard(page: Any, site: Path) -> None:
    page.goto(f"file://{site}/site/index.html")
    before = names(page)
    page.click("th button:has-text('submission')")
    assert names(page) == sorted(before)
    assert page.get_attribute("th:has-text('submission')", "aria-sort") == "ascending"
    page.focus("th button:has-text('score')")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    scores = [float(cell.inner_text()) for cell in page.query_selector_all("tbody td:nth-child(4)")]
    assert scores == sorted(scores, reverse=True)


def test_from_the_board_to_a_submission_to_a_task_and_back(page: Any, site: Path) -> None:
    page.goto(f"file://{site}/site/index.html")
    page.wait_for_selector(".time .main-svg")
    page.click("a:has-text('path_norm')")
    page.wait_for_selector(".heatmap .main-svg")
    assert len(page.query_selector_all(".main-svg")) >= 4
    page.click("h2 a:has-text('toy')")
    page.wait_for_selector(".histogram .main-svg")
    page.click("nav a:has-text('How to read it')")
    assert page.inner_text("h1") == "How to read the board"
    page.click("nav a:has-text('Leaderboard')")
    assert page.inner_text("h1") == "Leaderboard"


def test_dots_are_coloured_by_any_hyperparameter(page: Any, site: Path) -> None:
    page.goto(f"file://{site}/site/submissions/path_norm.html")
    choice = "select[name=by] >> nth=0"
    for name in ("axis_a", "axis_b", "axis_c"):
        page.select_option(choice, name)
        legend = page.wait_for_selector(f".scatter >> nth=0 >> text={name}")
        assert legend is not None
    dots = page.query_selector(".scatter").query_selector_all(".scatterlayer .trace")
    assert len(dots) == 2


def test_hovering_names_the_model(page: Any, site: Path) -> None:
    page.goto(f"file://{site}/site/submissions/path_norm.html")
    page.wait_for_selector(".scatter .points path")
    dot = page.query_selector(".scatter .points path")
    dot.scroll_into_view_if_needed()
    box = dot.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=3)
    assert "model_" in page.wait_for_selector(".hoverlayer text").text_content()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_needs_no_sideways_scrolling_of_the_page(browser: Any, site: Path, scheme: str) -> None:
    page = browser.new_page(viewport={"width": 360, "height": 700}, color_scheme=scheme)
    for name in ("index.html", "submissions/path_norm.html", "tasks/toy.html", "reading.html"):
        page.goto(f"file://{site}/site/{name}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, name
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 254)") == (scheme == "light")
    page.close()


def test_without_scripts_all_numbers_can_be_read(browser: Any, site: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"file://{site}/site/submissions/path_norm.html")
    page.click("summary:has-text('Values') >> nth=0")
    assert len(page.query_selector_all("details[open] tbody tr")) == 8
    context.close()


def test_a_report_works_alone(page: Any, site: Path) -> None:
    page.goto(f"file://{site}/half.html")
    page.wait_for_selector(".scatter .main-svg")
    assert page.title() == "half"
    page.click("summary:has-text('EXCEPTION')")
    assert "document.title='taken'" in page.inner_text("details[open] pre")
