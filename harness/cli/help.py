"""`pgdl help`: shows the pages of the documentation in the terminal."""

import re
from pathlib import Path

import click

from harness.errors import UserError
from harness.hints import did_you_mean
from harness.printing import say
from harness.shipped import shipped_directory

#: A page that has contents only on the site of `make docs`.
_ON_SITE = "reference"

#: Columns of a page if the output is not a terminal.
_WIDTH = 120


@click.command("help")
@click.argument("topic", required=False, metavar="[TOPIC[#SECTION]]")
def command(topic: str | None) -> None:
    """Show a page of the documentation, or one section of it; without a topic, list the pages.

    Example: pgdl help statistics
    """
    from harness.cli.main import COMMANDS

    pages = _pages()
    if topic is None:
        width = max(map(len, pages))
        titles = {name: page.read_text("utf-8").partition("\n")[0].removeprefix("# ") for name, page in pages.items()}
        say(*(f"{name:<{width}}  {title}" for name, title in titles.items()))
        return
    name, _, section = topic.removeprefix("docs/").partition("#")
    page = pages.get(name.removesuffix(".md"))
    if page is None:
        hint = f"pgdl {name} --help explains the command" if name in COMMANDS else did_you_mean(name, pages)
        raise UserError(f"no page {name!r}", remedy=hint or "list them with pgdl help")
    text = page.read_text("utf-8")
    _show(_section(text, section) if section else text, set(pages))


def _pages() -> dict[str, Path]:
    return {page.stem: page for page in sorted(shipped_directory("docs").glob("*.md")) if page.stem != _ON_SITE}


def _section(text: str, name: str) -> str:
    headings = list(re.finditer(r"^(#+) (.*)$", _without_code(text), re.MULTILINE))
    anchors = [re.sub(r"[^\w\- ]", "", found[2].lower()).replace(" ", "-") for found in headings]
    if name not in anchors:
        hint = did_you_mean(name, anchors)
        raise UserError(f"no section {name!r}", remedy=hint or f"its sections are {', '.join(anchors[1:])}")
    first, *after = headings[anchors.index(name) :]
    end = next((one.start() for one in after if len(one[1]) <= len(first[1])), len(text))
    return text[first.start() : end]


def _without_code(text: str) -> str:
    """Return the text with blanks in place of blocks of code, so that no comment in code looks like a heading."""
    return re.sub(r"^```.*?^```$", lambda found: " " * len(found[0]), text, flags=re.MULTILINE | re.DOTALL)


def _show(text: str, pages: set[str]) -> None:
    from rich.markdown import Markdown

    from harness.tables import SafeConsole

    def reachable(link: re.Match[str]) -> str:
        label, target = link[1], link[2].removesuffix(".md")
        if target not in pages:
            return label
        command = f"`pgdl help {target}{link[3] or ''}`"
        return command if label.removesuffix(".md") == target else f"{label} ({command})"

    text = re.sub(r"!?\[([^\]]*)\]\((?!https?://)([^)#]*)(#[^)]*)?\)", reachable, text)
    console = SafeConsole(highlight=False)
    if not console.is_terminal:
        console.width = _WIDTH
    console.print(Markdown(text, hyperlinks=False, code_theme="ansi_dark"))
