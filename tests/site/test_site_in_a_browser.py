"""Tests of the site in a real browser: opened from disk, without a network, with all links followed."""

from pathlib import Path
from typing import Any

import pytest
from matrix import rest
from site_examples import make, page_of

from harness.site import write_report, write_site


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("site")
    data, _ = make(directory / "reference")
    write_site(data, directory / "site")
    write_report(page_of(data, "half"), directory / "half.html")
    return directory


def names(page: Any) -> list[str]:
    return [cell.inner_text() for cell in page.query_selector_all("tbody th")]


def test_a_first_click_sorts_best_first(page: Any, site: Path) -> None:
    page.goto(f"file://{site}/site/index.html")
    before = names(page)
    page.click("th button:has-text('submission')")
    assert names(page) == sorted(before)
    assert page.get_attribute("th:has-text('submission')", "aria-sort") == "ascending"
    page.focus("th button:has-text('score')")
    page.keyboard.press("Enter")
    scores = [float(cell.inner_text()) for cell in page.query_selector_all("tbody td.score")]
    assert scores == sorted(scores, reverse=True)
    page.click("text=More columns")
    page.click("th button:text-is('p')")
    values = page.eval_on_selector_all(
        "tbody tr", "rows => rows.map((row) => row.querySelector('.extra').dataset.value)"
    )
    assert page.get_attribute("th:has(button:text-is('p'))", "aria-sort") == "ascending"
    assert values


def test_from_the_board_to_a_submission_to_a_task_and_back(page: Any, site: Path) -> None:
    page.goto(f"file://{site}/site/index.html")
    page.click("tbody a:has-text('path_norm')")
    assert page.locator(".card").count() == 2
    page.click("a:has-text('The task toy')")
    assert page.locator("svg circle").count() == 3 * 8
    page.click("nav a:has-text('How to read')")
    assert page.inner_text("h1") == "How to read the board"
    page.click("nav a:has-text('Board')")
    assert page.inner_text("h1").startswith("winner leads with ")


@pytest.mark.rest
def test_more_columns_are_remembered_in_the_address_and_need_no_script(scriptless: Any, site: Path) -> None:
    scriptless.goto(f"file://{site}/site/index.html")
    time = scriptless.locator("th:has-text('s/model')")
    assert not time.is_visible()
    scriptless.click("text=More columns")
    scriptless.goto(scriptless.url)
    assert scriptless.url.endswith("#more")
    assert time.is_visible()
    scriptless.click("text=Fewer columns")
    assert not time.is_visible()


@pytest.mark.rest
def test_without_scripts_all_numbers_can_be_read_and_the_comparison_says_so_below_its_heading(
    scriptless: Any, site: Path
) -> None:
    scriptless.goto(f"file://{site}/site/submissions/path_norm.html")
    scriptless.click("summary:has-text('Values') >> nth=0")
    assert len(scriptless.query_selector_all("details[open] details[open] .sortable tbody tr")) == 8
    scriptless.goto(f"file://{site}/site/compare.html")
    heading, sentence = (scriptless.locator(name).bounding_box() for name in ("h1", "noscript p"))
    padding = scriptless.eval_on_selector("h1", "heading => parseFloat(getComputedStyle(heading).paddingLeft)")
    assert sentence["x"] == pytest.approx(heading["x"] + padding, abs=1)


@pytest.mark.rest
def test_two_submissions_are_chosen_on_the_board_and_compared(page: Any, site: Path) -> None:
    page.goto(f"file://{site}/site/index.html")
    page.click(".when-looking")
    page.check("[aria-label='compare ties']")
    page.check("[aria-label='compare winner']")
    page.click("button:has-text('Compare')")
    page.wait_for_selector("#compared section")
    assert page.locator("#compared section").count() == 2
    captions = page.locator("#compared section >> nth=0 >> figcaption").all_inner_texts()
    assert [caption.partition(":")[0] for caption in captions] == ["winner", "ties"]
    page.select_option("select >> nth=2", label="half (29.5)")
    assert page.locator("#compared section >> nth=0 >> figure").count() == 3
    assert page.locator("#compared caption >> nth=0").inner_text() == "Where they disagree most"
    plots = page.locator("#compared section >> nth=0 >> svg")
    ranks = {svg.get_attribute("aria-label"): svg.locator("text >> nth=0").text_content() for svg in plots.all()}
    assert ranks == {
        "winner on second": "rank of the value: 1 (smallest) to 8",
        "ties on second": "rank of the value: 1 (smallest) to 8",
        "half on second": "rank of the value: 1 (smallest) to 7",
    }
    page.goto(page.url)
    page.wait_for_selector("#compared section")
    assert page.locator("#compared section >> nth=0 >> figure").count() == 3


@pytest.mark.rest
def test_dots_are_coloured_by_any_hyperparameter_and_tell_their_model(page: Any, site: Path) -> None:
    page.goto(f"file://{site}/site/submissions/path_norm.html")
    for name in ("axis_a", "axis_b", "axis_c"):
        page.select_option("select[name=by] >> nth=0", name)
        assert page.locator(".legend:visible >> nth=0").inner_text().startswith(f"{name}: ")
        texts = page.locator(".scatter >> nth=0 >> svg[role=group] circle.c1").all_text_contents()
        assert len(texts) == 4
        assert all(f"{name} 1" in text for text in texts)
    page.hover(".scatter svg circle >> nth=3")
    assert page.inner_text("output >> nth=0").startswith("model_3: gap 0.3000, rank 7 of 8; value 1, rank 1.5")


@pytest.mark.rest
@pytest.mark.parametrize("scheme", ["light", rest("dark")])
def test_a_phone_needs_no_sideways_scrolling_of_the_page(browser: Any, site: Path, scheme: str) -> None:
    page = browser.new_page(viewport={"width": 360, "height": 700}, color_scheme=scheme)
    for name in ("index.html", "submissions/path_norm.html", "tasks/toy.html", "reading.html"):
        page.goto(f"file://{site}/site/{name}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, name
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 254)") == (scheme == "light")
    page.close()


@pytest.mark.rest
def test_a_report_works_alone(page: Any, site: Path) -> None:
    page.goto(f"file://{site}/half.html")
    assert page.locator(".scatter svg[role=group] circle").count() == 15
    assert page.title() == "half"
    page.click("summary:has-text('EXCEPTION')")
    assert "document.title='taken'" in page.inner_text("details[open] pre")
