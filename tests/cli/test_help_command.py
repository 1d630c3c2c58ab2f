"""Tests of `pgdl help` (pages of the documentation, and the messages that name them) and of completions of a shell."""

import re
from pathlib import Path

import pytest
from in_process import Pgdl

from tests.cli.every_command import every_command
from tests.cli.test_advice import texts

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
    lines = pgdl("help", "submissions#packages").lines
    assert (lines[0][:8], "Submissions" in lines[0]) == ("Packages", False)


@pytest.mark.rest
def test_messages_name_pages_that_are_there(pgdl: Pgdl) -> None:
    """Messages are the string constants of the harness and the help texts of commands, but no other docstrings."""
    found = [(file.name, text) for file in (ROOT / "harness").rglob("*.py") for text in texts(file)]
    found += [(" ".join(words), command.help or "") for words, command in every_command()]
    topics = {topic for _, text in found for topic in NAMED.findall(text)}
    assert len(topics) > 10
    assert {topic: pgdl("help", topic).code for topic in topics} == dict.fromkeys(topics, 0)
    assert {name for name, text in found if re.search(r"docs/[a-z0-9-]+\.md", text)} == set()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("pgdl doc", ["plain,doctor"]),
        ("pgdl run gi_intra", ["plain,gi_intra_l0", "plain,gi_intra_l1"]),
        ("pgdl check my_mea", ["file,my_mea"]),
        ("pgdl score num_par", ["plain,num_params"]),
        ("pgdl measures num_par", ["plain,num_params"]),
        ("pgdl compare --measures che", ["plain,cheap"]),
        ("pgdl compare --measures cheap,gi_intra", ["plain,cheap,gi_intra_l0", "plain,cheap,gi_intra_l1"]),
        ("pgdl compare --measures grad",
         [f"plain,gradient{end}" for end in ("s", "", "_confusion", "_norm", "_noise_final")]),
        ("pgdl task val", ["plain,validate"]),
    ],
)  # fmt: skip
def test_bash_completes_the_last_word(
    line: str, expected: list[str], pgdl: Pgdl, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (
        ("_PGDL_COMPLETE", "bash_complete"),
        ("COMP_WORDS", line),
        ("COMP_CWORD", str(line.count(" "))),
    ):
        monkeypatch.setenv(name, value)
    ended = pgdl()
    assert (ended.code, ended.out.split(), ended.err) == (0, expected, "")
