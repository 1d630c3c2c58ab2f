"""Tests of the Markdown files: their links, their lines, and the site that `make docs` builds."""

import re
import runpy
from itertools import pairwise
from pathlib import Path

import pytest

import baselines
import pgdl

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path for pattern in ("*.md", "docs/*.md", "submissions/*.md", "task_data/*.md") for path in ROOT.glob(pattern)
)
SITE = runpy.run_path(str(ROOT / "docs" / "conf.py"))


def prose(page: Path) -> str:
    """Return the text of a page without its blocks of code."""
    return re.sub(r"^( *)```.*?^\1```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """Return the anchors of the page's headings, as GitHub and the site form them."""
    headings = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_and_anchor_is_there(page: Path) -> None:
    text = re.sub(r"`[^`\n]*`", "", prose(page))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith(("https://", "http://")):
            continue
        name, _, anchor = target.partition("#")
        linked = (page.parent / name).resolve() if name else page
        assert linked.exists(), target
        assert linked.is_relative_to(ROOT), target
        assert not anchor or anchor in anchors(linked), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_lines_of_prose_have_at_most_120_characters(page: Path) -> None:
    """Lines of tables and pictures are exempt, since they cannot be wrapped."""
    long = [line for line in prose(page).splitlines() if len(line) > 120 and not re.match(r" *(\||!\[)", line)]
    assert long == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_no_table_is_cut_in_two(page: Path) -> None:
    """After a line of a table comes another line of the table, or an empty line."""
    lines = prose(page).splitlines()
    assert [after for line, after in pairwise(lines) if line.startswith("|") and after and after[0] != "|"] == []


def test_every_page_is_in_the_navigation_once() -> None:
    listed = ["README", *(page for pages in SITE["PAGES"].values() for page in pages)]
    assert sorted(listed) == sorted(page.relative_to(ROOT).with_suffix("").as_posix() for page in PAGES)


def test_every_public_name_is_in_the_reference() -> None:
    page = (ROOT / "docs" / "reference.md").read_text()
    documented = set(re.findall(r"^\.\. (?:auto)?[a-z]+:: (?:[\w.]+\.)?(\w+)$", page, re.MULTILINE))
    assert set(dir(pgdl)) - {"scoring"} <= documented
    assert set(baselines.__all__) <= documented
    assert ".. automodule:: scoring\n" in page
