"""Tests of the keyboard: all that can be clicked is reached by Tab, is then visible, and works without a mouse."""

from typing import Any

import pytest

pytestmark = pytest.mark.rest

PAGES = ["index.html", "submissions/team_0.html", "tasks/toy.html", "reading.html", "compare.html"]

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


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", PAGES)
def test_tab_reaches_everything(page: Any, long_site: str, name: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 700})
    page.goto(f"{long_site}/{name}")
    clickable, pretended = page.evaluate(NUMBERED, CLICKABLE)
    assert pretended == []
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


@pytest.mark.parametrize("name", PAGES)
def test_what_is_focused_and_drawn_has_a_name(page: Any, long_site: str, name: str) -> None:
    page.goto(f"{long_site}/{name}")
    for selector in ("[tabindex='0']", "[role=img]", "[role=group]"):
        assert all(element.get_attribute("aria-label") for element in page.query_selector_all(selector)), selector
    for field in page.query_selector_all("input, select"):
        assert field.evaluate("field => field.ariaLabel || field.labels[0].textContent.trim().split(/\\s/)[0]")
    assert page.locator("th[data-sort]:not(:has(button))").count() == 0
    assert page.locator("th:not([data-sort])[aria-sort]").count() == 0
