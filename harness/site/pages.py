"""Renders the pages of a site, and the report on a submission, from templates."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from importlib.resources import files
from typing import Any

import jinja2

from harness.board import formats
from harness.board.board import Board
from harness.board.insight import Insight, find_insights
from harness.site.board import leaderboard
from harness.site.data import SiteData, TaskFacts
from harness.site.on_comparison import values_script
from harness.site.on_index import index_page
from harness.site.on_submission import submission_pages
from harness.site.on_task import task_page
from harness.text import on_page

#: Formats in which readers of a site can download the board.
DOWNLOADS = ("csv", "json", "latex", "markdown")

#: Scripts of the pages, in the order in which browsers run them.
SCRIPTS = ("tables.js", "plots.js")

_PACKAGE = files("harness.site")


@dataclass(frozen=True)
class TaskLink:
    """A task with the path of its page."""

    name: str
    page: str
    facts: TaskFacts


@dataclass(frozen=True)
class Site:
    """A site before its pages are rendered."""

    data: SiteData
    head: str  #: last digest of the chain of records
    board: Board
    pages: Sequence[str]  #: path of each row's page
    tasks: Sequence[TaskLink]
    insights: Mapping[int, Mapping[str, Insight]]  #: position of a row -> task -> explanation of its score


def make_site(data: SiteData, head: str = "") -> Site:
    """Compute the board of a site, and explain its scores. `head` is the last digest of the chain of records."""
    board, facts = leaderboard(data), data.settings.tasks
    links = [TaskLink(name, page, facts[name]) for name, page in zip(facts, _distinct("tasks", facts), strict=True)]
    return Site(data, head, board, paths_of(board), links, find_insights(board.rows))


def render_site(site: Site) -> dict[str, bytes]:
    """Return path -> content of all pages, of their styles and scripts, and of files to download."""
    data, board, pages = site.data, site.board, site.pages
    downloads = {f"leaderboard{form.SUFFIX}": form.render(board) for form in map(formats.find, DOWNLOADS)}
    first = index_page(data, board, pages)
    rendered: dict[str, str | bytes] = {
        "index.html": _render("index.html", site, downloads=downloads, **first),
        "reading.html": _render("reading.html", site, withheld=data.settings.hidden),
    }
    links = {task.name: task.page for task in site.tasks}
    for page, content in zip(pages, submission_pages(board, site.insights, pages), strict=True):
        parts = [part | {"page": links[part["name"]]} for part in content["parts"]]
        rendered[page] = _render("submission.html", site, up="../", **content | {"parts": parts})
    for task in site.tasks:
        content = task_page(board, task.name, data.references.get(task.name), pages)
        rendered[task.page] = _render("task.html", site, up="../", task=task, **content)
    rendered |= downloads
    rendered |= {f"assets/{name}": _asset(name) for name in ("site.css", "icon.svg", *SCRIPTS, "compare.js")}
    rendered |= {"compare.html": _render("compare.html", site), "values.js": values_script(data, board, pages)}
    return {path: one if isinstance(one, bytes) else one.encode() for path, one in rendered.items()}


def render_report(page: Mapping[str, Any]) -> str:
    """Return a page of `submission_pages` as a single HTML file, with styles and scripts, and without links."""
    unlinked = {name: [one | {"page": None} for one in page[name]] for name in ("parts", "others")}
    ending = re.compile("</(?=script)", re.IGNORECASE)  # a script must not end its own element
    assets = {"css": _asset("site.css"), "inlined": [ending.sub(r"<\\/", _asset(name)) for name in SCRIPTS]}
    return _render("submission.html", None, up="../", single=True, **{**page, **unlinked, **assets})


def _render(template: str, site: Site | None, *, up: str = "", single: bool = False, **content: Any) -> str:
    common = {"up": up, "single": single, "scripts": SCRIPTS, "version": metadata.version("pgdl-harness")}
    if site is not None:
        common |= {"tasks": site.tasks, "head": site.head, "site_title": site.data.settings.title}
    return _environment().get_template(template).render(**common, **content)


@cache
def _environment() -> jinja2.Environment:
    loader = jinja2.PackageLoader("harness.site")
    return jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, loader=loader, finalize=on_page
    )


def paths_of(board: Board) -> list[str]:
    """Return the path of each row's page in a site, in the order of the rows."""
    return _distinct("submissions", [row.submission for row in board.rows])


def _distinct(directory: str, names: Iterable[str]) -> list[str]:
    """Return a path in `directory` for each name. All paths differ, even on file systems that ignore case."""
    paths: list[str] = []
    used: set[str] = set()
    numbers: Counter[str] = Counter()  # base -> number of further paths with it; many names may share a base
    for name in names:
        stem = base = re.sub(r"[^A-Za-z0-9_.+-]", "_", name).lstrip(".") or "_"
        while stem.casefold() in used:
            numbers[base] += 1
            stem = f"{base}-{numbers[base] + 1}"
        used.add(stem.casefold())
        paths.append(f"{directory}/{stem}.html")
    return paths


def _asset(name: str) -> str:
    return _PACKAGE.joinpath("assets", name).read_text(encoding="utf-8")
