"""Renders the pages of a site, and the report on a submission, from templates."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from importlib.resources import files
from typing import Any

import jinja2

from harness.board import formats
from harness.board.board import Board
from harness.board.insight import find_insights
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


def render_site(data: SiteData, head: str = "") -> dict[str, bytes]:
    """Return path -> content of all pages, of their styles and scripts, and of files to download.

    `head` is the last digest of the chain of records.
    """
    board, settings = leaderboard(data), data.settings
    pages = paths_of(board)
    paths = zip(settings.tasks.items(), _distinct("tasks", settings.tasks), strict=True)
    tasks = [TaskLink(name, page, facts) for (name, facts), page in paths]
    common: dict[str, Any] = {"tasks": tasks, "head": head, "site_title": settings.title}
    downloads = {f"leaderboard{form.SUFFIX}": form.render(board) for form in map(formats.find, DOWNLOADS)}
    rendered: dict[str, str | bytes] = {
        "index.html": _render("index.html", **common, downloads=downloads, **index_page(data, board, pages)),
        "reading.html": _render("reading.html", **common, withheld=settings.hidden),
        "compare.html": _render("compare.html", **common),
        "values.js": values_script(data, board, pages),
    }
    links = {task.name: task.page for task in tasks}
    insights = find_insights(board.rows)
    for page, content in zip(pages, submission_pages(board, insights, pages), strict=True):
        parts = [part | {"page": links[part["name"]]} for part in content["parts"]]
        rendered[page] = _render("submission.html", **common, up="../", **content | {"parts": parts})
    for task in tasks:
        content = task_page(board, task.name, data.references.get(task.name), pages)
        rendered[task.page] = _render("task.html", **common, up="../", task=task, **content)
    rendered |= downloads
    rendered |= {f"assets/{name}": _asset(name) for name in ("site.css", "icon.svg", *SCRIPTS, "compare.js")}
    return {path: one if isinstance(one, bytes) else one.encode() for path, one in rendered.items()}


def render_report(page: Mapping[str, Any]) -> str:
    """Return a page of `submission_pages` as a single HTML file, with styles and scripts, and without links."""
    unlinked = {name: [one | {"page": None} for one in page[name]] for name in ("parts", "others")}
    ending = re.compile("</(?=script)", re.IGNORECASE)  # a script must not end its own element
    assets = {"css": _asset("site.css"), "inlined": [ending.sub(r"<\\/", _asset(name)) for name in SCRIPTS]}
    return _render("submission.html", up="../", single=True, **{**page, **unlinked, **assets})


def _render(template: str, *, up: str = "", single: bool = False, **content: Any) -> str:
    common = {"up": up, "single": single, "scripts": SCRIPTS, "version": metadata.version("pgdl-harness")}
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
