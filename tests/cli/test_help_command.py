"""Tests of `pgdl help`: the pages of the documentation, and the messages that name them."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from in_process import Pgdl

ROOT = Path(__file__).parents[2]
NAMED = re.compile(r"pgdl help ([a-z0-9-]+(?:#[a-z-]+)?)")


def test_without_a_topic_the_pages_are_listed(pgdl: Pgdl) -> None:
    ended = pgdl("help")
    assert (ended.code, ended.err) == (0, "")
    pages = {page.stem for page in (ROOT / "docs").glob("*.md")} - {"reference"}
    assert {line.split()[0] for line in ended.out.splitlines()} == pages
    assert "outcomes             Outcomes" in ended.out


@pytest.mark.parametrize("topic", ["outcomes", "docs/outcomes.md"])
def test_a_page_is_laid_out_and_its_links_are_commands(topic: str, pgdl: Pgdl) -> None:
    ended = pgdl("help", topic)
    assert (ended.code, ended.err) == (0, "")
    assert re.search(r"^ TIMEOUT +the wall-clock time exceeded", ended.out, re.MULTILINE)
    assert "pgdl help" in ended.out
    assert not re.search(r"\]\(|\*\*|\.md\b| $", ended.out, re.MULTILINE)


def test_a_section(pgdl: Pgdl) -> None:
    ended = pgdl("help", "submissions#packages")
    assert ended.out.startswith("Packages")
    assert "Submissions" not in ended.out.splitlines()[0]


@pytest.mark.parametrize(
    ("topic", "problem"),
    [
        ("outcmes", "no page 'outcmes'; did you mean 'outcomes'?"),
        ("run", "no page 'run'; pgdl run --help explains the command"),
        ("../README", "no page '../README'; list them with pgdl help"),
        ("measures#at-chanc", "no section 'at-chanc'; did you mean 'at-chance'?"),
    ],
)
def test_mistakes_are_one_line(topic: str, problem: str, pgdl: Pgdl) -> None:
    ended = pgdl("help", topic)
    assert (ended.code, ended.out, ended.err) == (2, "", f"pgdl: {problem}\n")


def texts() -> Iterator[tuple[Path, str]]:
    """Yield the string constants of the harness with their files: help texts of commands, but no other docstrings."""
    for file in (ROOT / "harness").rglob("*.py"):
        tree = ast.parse(file.read_text())
        scopes = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        bodies = [node.body[0] for node in ast.walk(tree) if isinstance(node, scopes) and node.body]
        own = {id(first.value) for first in bodies if isinstance(first, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in own:
                yield file, node.value
            if isinstance(node, ast.FunctionDef) and node.name == "command":
                yield file, ast.get_docstring(node) or ""


@pytest.mark.rest
def test_messages_name_pages_that_are_there(pgdl: Pgdl) -> None:
    found = list(texts())
    topics = {topic for _, text in found for topic in NAMED.findall(text)}
    assert len(topics) > 10
    assert {topic: pgdl("help", topic).code for topic in topics} == dict.fromkeys(topics, 0)
    assert {file.name for file, text in found if re.search(r"docs/[a-z0-9-]+\.md", text)} == set()
