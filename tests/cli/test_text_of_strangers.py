"""Tests of strangers' names, messages and settings: they control neither a terminal nor a file for readers."""

import json
import re
from itertools import product
from pathlib import Path

import pytest
from in_process import Pgdl
from markdown_it import MarkdownIt

from harness.outcome import Outcome
from harness.records import Records
from tests.board.board_examples import GAPS, MEASURE, failed, rows
from tests.records.evaluation_rows import request
from tests.throwaway import edit_json, make_task

#: Allowed names in a database; other characters are refused there (`harness.records.row_rules`).
NAME = "x[2J[/red]`<img src=x onerror=y>`| ::error::y pgdl: all is well"

#: Escape codes, a title of the window, a link, a line of its own, right-to-left, markup of rich, Markdown and HTML.
HOSTILE = "x\x1b[2J\x1b]0;t\x07\x9b31m\u202e[/red]`<img src=x onerror=y>`|\r\n::error::y\npgdl: all is well\u2028z"

CONTROLS = re.compile(r"[^\S\n ]|[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


@pytest.fixture
def strange(folder: Path) -> Path:
    """A stranger's task and database, in which every text is hostile."""
    task = make_task(folder / "task_data")

    def rename(content: dict[str, dict[str, dict[str, object]]]) -> None:
        for part in (part for entry in content.values() for part in entry.values() if "width" in part):
            part[HOSTILE] = part.pop("width")

    edit_json(task / "model_configs.json", rename)
    with Records("results.db") as records:
        for number, text in enumerate((NAME, f"{NAME} again")):
            made = [
                *rows(text, GAPS if number else MEASURE, "tiny", submission_digest=f"d{number}"),
                failed(f"bad {text}", "model_0", Outcome.CRASH, "tiny", message=NAME, output_tail=f"{NAME}\n{NAME}"),
                *rows(f"other {text}", GAPS, "tiny", runtime=NAME, versions=NAME, harness_version=NAME),
            ]
            records.add(*made)
            records.ask([request(row, source=f"/tmp/{NAME}") for row in (made[0], made[-1])])
    return task


COMMANDS = [
    ["board"], ["board", "--wide", "--all"], ["board", "--format", "markdown"], ["board", "--format", "latex"],
    ["board", "--html", "site", "--output", "files"], ["score"], ["report"], ["report", "--html", "pages"],
    ["results"], ["task", "show"], ["task", "list"], ["task", "validate"], ["task", "show", "--html", "page.html"],
    ["verify", "site"],
    *([*words, HOSTILE] for words in (
        [], ["score"], ["run"], ["check"], ["board"], ["report"], ["verify"], ["measures"], ["new"], ["task"],
        ["task", "fetch"], ["task", "build"], ["task", "show", "--task"], ["board", "--format"], ["board", "--results"],
        ["compare", "--measures"], ["ci", "--head"], ["results", "--outcome"], ["results", "--submission"],
    )),
    ["board", f"--{HOSTILE}"],
]  # fmt: skip


@pytest.mark.rest
@pytest.mark.usefixtures("strange")
def test_on_the_terminal_and_in_files_for_readers(pgdl: Pgdl, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No output has control characters, or a forged line from the stranger's texts."""
    for width, command in product(("60", "200"), COMMANDS):
        monkeypatch.setenv("COLUMNS", width)
        ended = pgdl(*command)
        assert ended.code in (0, 1, 2), (command, ended.err)
        said = ended.out + ended.err
        assert CONTROLS.search(said) is None, command
        assert not [line for line in said.splitlines() if line.startswith(("::", "pgdl: all is well"))], command
    texts = [file for file in folder.rglob("*") if file.suffix in (".md", ".tex", ".html", ".svg")]
    assert {file.suffix for file in texts} >= {".md", ".tex", ".html"}
    for file in texts:
        text = re.sub("<script>.*?</script>", "", file.read_text(), flags=re.DOTALL)  # libraries
        assert CONTROLS.search(text.replace("\t", "")) is None, file
        assert file.suffix != ".html" or "<img" not in text, file


@pytest.mark.usefixtures("strange")
def test_in_markdown(pgdl: Pgdl) -> None:
    shown = pgdl("board", "--format", "markdown").out
    tokens = MarkdownIt("commonmark").enable("table").parse(shown)
    assert not [token for token in tokens if "html" in token.type]
    parts = [part for token in tokens for part in token.children or ()]
    assert {part.type for part in parts} <= {"text", "code_inline", "hardbreak", "text_special"}
    assert any("<img src=x onerror=y>" in part.content for part in parts)


@pytest.mark.usefixtures("strange")
def test_content_for_programs_is_exact_but_cannot_control_a_terminal(
    pgdl: Pgdl, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert NAME in pgdl("results", "--format", "csv").out.replace('""', '"')
    lines = pgdl("results", "--format", "json").out.splitlines()
    assert NAME in {json.loads(line)["submission"] for line in lines}
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    for command in (["results", "--format", "csv"], ["board", "--format", "csv"], ["board", "--format", "json"]):
        assert CONTROLS.search(pgdl(*command).out) is None
