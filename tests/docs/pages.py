"""Runs the code of a page of docs/ and compares its output with the page."""

import ast
import contextlib
import importlib.util
import io
import linecache
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.e2e.real_runs import run_here

DOCS = Path(__file__).parents[2] / "docs"

_FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Section(NamedTuple):
    """A section of a page: its heading, and its fenced blocks as (language, text)."""

    heading: str
    blocks: list[tuple[str, str]]

    @property
    def code(self) -> str:
        """The Python code of all blocks."""
        return "\n".join(text for language, text in self.blocks if language == "python")

    @property
    def missing(self) -> list[str]:
        """Return the packages that the code imports and that are not installed."""
        found = [node for node in ast.walk(ast.parse(self.code)) if isinstance(node, ast.Import | ast.ImportFrom)]
        names = {alias.name for node in found if isinstance(node, ast.Import) for alias in node.names}
        names |= {node.module or "" for node in found if isinstance(node, ast.ImportFrom)}
        packages = {name.partition(".")[0] for name in names}
        return sorted(package for package in packages if importlib.util.find_spec(package) is None)


def sections(page: str) -> list[Section]:
    """Return a page's sections with Python code."""
    parts = re.split(r"^## (.*)$", (DOCS / page).read_text(), flags=re.MULTILINE)[1:]
    found = [Section(heading, _FENCED.findall(text)) for heading, text in zip(parts[::2], parts[1::2], strict=True)]
    return [section for section in found if section.code]


def run(section: Section) -> Iterator[tuple[str, str]]:
    """Run the blocks of Python and of `pgdl`; for each `text` block, yield the output so far and the stated output."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    printed = io.StringIO()
    for number, (language, text) in enumerate(section.blocks):
        if language == "python":
            file = f"docs: {section.heading} {number}"
            linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file  # as in a notebook
            with contextlib.redirect_stdout(printed):
                exec(compile(text, file, "exec"), namespace)
        elif language == "sh":
            printed.write("".join(_pgdl(line) for line in text.splitlines()))
        elif language == "text":
            yield printed.getvalue(), text
            printed.seek(0)
            printed.truncate()
    assert printed.getvalue() == "", "printed, and not on the page"


def require_stated(section: Section) -> None:
    """Assert that the section's code prints what the page says; skip the test if a package is missing."""
    if section.missing:
        pytest.skip(f"not installed: {', '.join(section.missing)}")
    for printed, stated in run(section):
        assert printed == stated


def _pgdl(line: str) -> str:
    command, *arguments = shlex.split(line, comments=True)
    assert command == "pgdl"
    ended = run_here(arguments, dict(os.environ), Path.cwd())
    return ended.stdout + ended.stderr
