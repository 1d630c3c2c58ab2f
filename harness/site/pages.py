"""Renders the pages of a site from its data."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from importlib.resources import files
from typing import Any

import jinja2
from markupsafe import Markup

from harness.board import formats
from harness.board.board import Board
from harness.board.insight import Insight, find_insights
from harness.site.board import leaderboard
from harness.site.data import TITLE, SiteData, TaskFacts
from harness.site.on_comparison import values_script
from harness.site.on_index import index_page
from harness.site.on_submission import submission_pages
from harness.site.on_task import task_page
from harness.text import on_page

#: Formats of the board that a site carries: text that depends on nothing but the board.
DOWNLOADS = ("csv", "json", "latex", "markdown")

#: Scripts of the pages, in the order in which they run.
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
    """A site before its pages are rendered.

    Attributes:
        pages: the path of each row's page.
        insights: position of a row -> task -> insight.
    """

    data: SiteData
    head: str
    board: Board
    pages: Sequence[str]
    tasks: Sequence[TaskLink]
    insights: Mapping[int, Mapping[str, Insight]]


def make_site(data: SiteData, head: str = "") -> Site:
    """Compute everything that the pages show; `head` is the last digest of the chain of records."""
    board = leaderboard(data)
    pages = paths_of(board)
    tasks = _distinct("tasks", list(data.settings.tasks))
    return Site(
        data, head, board, pages,
        [TaskLink(name, page, facts) for page, (name, facts) in zip(tasks, data.settings.tasks.items(), strict=True)],
        find_insights(board.rows),
    )  # fmt: skip


def render_site(site: Site) -> dict[str, bytes]:
    """Return path -> content of all pages, assets and downloads."""
    rendered = {"index.html": _index(site), "reading.html": _reading(site)}
    contents = submission_pages(site.board, site.insights, site.pages)
    rendered |= {page: _submission(site, content) for page, content in zip(site.pages, contents, strict=True)}
    rendered |= {task.page: _task(site, task) for task in site.tasks}
    rendered |= {f"leaderboard{form.SUFFIX}": _text(form.render(site.board)) for form in map(formats.find, DOWNLOADS)}
    rendered |= {f"assets/{name}": _asset(name) for name in ("site.css", "icon.svg", *SCRIPTS, "compare.js")}
    rendered |= {"compare.html": _render("compare.html", site), "values.js": _values(site)}
    return {path: content.encode() for path, content in rendered.items()}


def render_report(page: Mapping[str, Any]) -> str:
    """Return a content of `submission_pages` as a page that contains all it needs, and links to no other."""
    unlinked = {name: [one | {"page": None} for one in page[name]] for name in ("parts", "others")}
    assets = {
        "css": _asset("site.css"),
        "inlined": [_inline(_asset(name)) for name in SCRIPTS],
    }
    return _render("submission.html", None, up="../", single=True, **{**page, **unlinked, **assets})


def _submission(site: Site, content: Mapping[str, Any]) -> str:
    links = {task.name: task.page for task in site.tasks}
    parts = [part | {"page": links.get(part["name"])} for part in content["parts"]]
    return _render("submission.html", site, up="../", **{**content, "parts": parts})


def _index(site: Site) -> str:
    content = index_page(site.data, site.board, site.pages)
    return _render("index.html", site, downloads=_downloads(), **content)


def _values(site: Site) -> str:
    return values_script(site.data, site.board, site.pages)


def _reading(site: Site) -> str:
    return _render("reading.html", site, withheld=site.data.settings.hidden)


def _task(site: Site, task: TaskLink) -> str:
    content = task_page(site.board, task.name, site.data.references.get(task.name), site.pages)
    return _render("task.html", site, up="../", task=task, **content)


def _render(template: str, site: Site | None, *, up: str = "", single: bool = False, **content: Any) -> str:
    common = {
        "up": up,
        "scripts": SCRIPTS,
        "single": single,
        "tasks": site.tasks if site else (),
        "head": site.head if site else "",
        "site_title": site.data.settings.title if site else TITLE,
    }
    found = _environment().get_template(template)
    return found.render(**common, version=metadata.version("pgdl-harness"), **content)


@cache
def _environment() -> jinja2.Environment:
    loader = jinja2.PackageLoader("harness.site")
    return jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, loader=loader, finalize=on_page
    )


def _downloads() -> list[str]:
    return [f"leaderboard{formats.find(name).SUFFIX}" for name in DOWNLOADS]


def paths_of(board: Board) -> list[str]:
    """Return the path of the page of each row in a site."""
    return _distinct("submissions", [row.submission for row in board.rows])


def _distinct(directory: str, names: Sequence[str]) -> list[str]:
    """Return a path for each name, distinct even where case does not count."""
    paths: list[str] = []
    used: set[str] = set()
    numbers: Counter[str] = Counter()  # those of a base that are taken: a stranger's names may all have one
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


def _inline(script: str) -> Markup:
    """Return a script as the content of an element; it must not end the element."""
    return Markup(re.sub(r"</(?=script)", r"<\\/", script, flags=re.IGNORECASE))


def _text(content: str | bytes) -> str:
    assert isinstance(content, str)
    return content
