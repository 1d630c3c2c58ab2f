"""Tests of drawings in a real browser: every dot is visible, and texts lie within the drawing without overlaps."""

from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pytest
from site_examples import data_of, make_long, page_of

from harness.site import write_report, write_site
from tests.board.board_examples import references, rows

pytestmark = pytest.mark.rest

WIDTHS = [320, 390, 700, 1280]

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


@pytest.mark.parametrize("width", WIDTHS)
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


@pytest.mark.parametrize("only_baselines", [False, True])
def test_baselines_alone_are_drawn_like_submissions(page: Any, tmp_path: Path, only_baselines: bool) -> None:
    write_site(make_long(tmp_path / "reference", only_baselines=only_baselines), tmp_path / "site")
    page.goto(f"file://{tmp_path}/site/index.html")
    colours = page.eval_on_selector_all(".time svg[role=group] circle", "dots => dots.map((dot) => dot.classList[0])")
    assert set(colours) == ({"c0"} if only_baselines else {"c0", "c1"})
    assert page.locator(".time .legend").count() == (0 if only_baselines else 1)
