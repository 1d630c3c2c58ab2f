"""Plots in a real browser: ranks that show every dot, ticks and names that fit into any width."""

from itertools import combinations, pairwise, product
from pathlib import Path
from typing import Any

import pytest
from site_examples import make_long

from harness.board.leaderboard import build_board
from harness.log_axis import log_ticks
from harness.site import gather, submission_page, write_report, write_site
from harness.site.pages import make_site
from tests.board.board_examples import collect, references, rows

pytestmark = pytest.mark.rest

WIDTHS = [320, 390, 700, 1280]

#: One huge value, and two that are equal.
VALUES = [1.0, 2.0, 3.0, 4.0, 5.0, 5.0, 7.0, 1e12]

Box = dict[str, float]


def boxes(page: Any, selector: str) -> list[Box]:
    """Where the elements are in the window, from left to right."""
    return sorted((found.bounding_box() for found in page.query_selector_all(selector)), key=lambda box: box["x"])


def overlap(one: Box, other: Box) -> bool:
    sides = (("x", "width"), ("y", "height"))
    return all(one[at] < other[at] + other[size] and other[at] < one[at] + one[size] for at, size in sides)


def inside(one: Box, other: Box) -> bool:
    sides = (("x", "width"), ("y", "height"))
    return all(other[at] - 1 <= one[at] and one[at] + one[size] <= other[at] + other[size] + 1 for at, size in sides)


@pytest.fixture
def huge(tmp_path: Path) -> Path:
    """A site, and a report, of a measure with a huge value."""
    tasks = references(tmp_path / "reference")
    collected = collect(rows("mine", VALUES), tasks)
    data = gather(collected.shown, build_board(collected, tasks), tasks, {}, {})
    write_site(data, tmp_path / "site")
    site = make_site(data)
    write_report(submission_page(site.board, 0, site.insights[0], site.pages), tmp_path / "mine.html")
    return tmp_path


@pytest.mark.parametrize("name", ["site/submissions/mine.html", "mine.html"])
def test_one_huge_value_leaves_room_for_the_others(page: Any, huge: Path, name: str) -> None:
    page.goto(f"file://{huge}/{name}")
    heights = sorted({round(dot["y"], 1) for dot in boxes(page, ".scatter .points path")})
    assert len(heights) == 7
    steps = [other - one for one, other in pairwise(heights)]
    assert max(steps) < 2 * min(steps)
    page.select_option("select[name=axes]", "value")
    heights = sorted(dot["y"] for dot in boxes(page, ".scatter .points path"))
    assert heights[1] - heights[0] > 100 * (heights[-1] - heights[1])


def test_axes_say_what_they_are(page: Any, huge: Path) -> None:
    page.goto(f"file://{huge}/mine.html")

    def titles() -> list[str]:
        return [page.text_content(f".scatter .{axis}title") for axis in "xy"]

    assert titles() == ["rank of the gap (1: smallest)", "rank of the measure (1: smallest)"]
    page.select_option("select[name=axes]", "value")
    assert titles() == ["generalization gap", "value of the measure"]


@pytest.mark.parametrize("width", WIDTHS)
def test_titles_of_axes_fit(page: Any, huge: Path, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"file://{huge}/mine.html")
    canvas = page.locator(".canvas.scatter").bounding_box()
    assert all(inside(title, canvas) for title in boxes(page, ".scatter .xtitle, .scatter .ytitle"))


def check_time_plot(page: Any) -> None:
    """Labels and names are apart from each other, and names inside the plot."""
    ticks = boxes(page, ".time .xtick text")
    assert len(ticks) > 1
    assert not any(overlap(one, other) for one, other in pairwise(ticks))
    labels = [element.text_content() for element in page.query_selector_all(".time .xtick text")]
    assert {f"{float(label):e}"[0] for label in labels} <= set("125")
    names, (plot,) = boxes(page, ".time .annotation text"), boxes(page, ".time .nsewdrag")
    assert names
    assert all(inside(name, plot) for name in names)
    assert not any(overlap(one, other) for one, other in combinations(names, 2))


@pytest.mark.parametrize("width", WIDTHS)
def test_ticks_and_names_fit_into_any_width(page: Any, long_site: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"{long_site}/index.html")
    page.wait_for_selector(".time .xtick text")
    check_time_plot(page)


def test_ticks_and_names_follow_the_window(page: Any, long_site: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(f"{long_site}/index.html")
    page.wait_for_selector(".time .xtick text")
    many = page.locator(".time .xtick").count()
    page.set_viewport_size({"width": 360, "height": 800})
    page.locator(".time .xtick").nth(many - 1).wait_for(state="detached")
    check_time_plot(page)


def test_a_part_of_the_plot_has_ticks_of_its_own(page: Any, long_site: str) -> None:
    page.goto(f"{long_site}/index.html")
    page.evaluate("Plotly.relayout(document.querySelector('.time'), {'xaxis.range': [Math.log10(21), Math.log10(48)]})")
    labels = {element.text_content() for element in page.query_selector_all(".time .xtick text")}
    assert labels >= {"30", "40"}


def test_ticks_are_those_of_the_other_plots(page: Any, long_site: str) -> None:
    page.goto(f"{long_site}/index.html")
    for low, decades, room in product((1e-6, 0.003, 0.9, 3, 20, 1234), (0, 0.05, 0.4, 1, 4, 9), (0.02, 0.2, 0.35, 1.5)):
        high = low * 10**decades
        found = page.evaluate("([low, high, room]) => logTicks(low, high, room)", [low, high, room])
        assert found == pytest.approx(log_ticks(low, high, room)), (low, high, room)


@pytest.mark.parametrize("only_baselines", [False, True])
def test_baselines_alone_are_drawn_like_submissions(page: Any, tmp_path: Path, only_baselines: bool) -> None:
    write_site(make_long(tmp_path / "reference", only_baselines=only_baselines), tmp_path / "site")
    page.goto(f"file://{tmp_path}/site/index.html")
    found = page.eval_on_selector(".time", "canvas => canvas.data.map((trace) => [trace.name, trace.marker.color])")
    grey = "#8a8f98"
    assert [name for name, colour in found if colour == grey] == ([] if only_baselines else ["baseline"])
    assert page.locator(".time .legend").count() == (0 if only_baselines else 1)
    assert page.locator("tbody .faint").count() == 0
