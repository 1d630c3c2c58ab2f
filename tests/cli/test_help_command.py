"""Tests of `pgdl help`, of completions of a shell, and of advice in messages: pages, commands and options exist."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from in_process import Pgdl

from harness.cli.main import cli
from tests.cli.every_command import every_command

ROOT = Path(__file__).parents[2]
NAMED = re.compile(r"pgdl help ([a-z0-9-]+(?:#[a-z-]+)?)")


def test_without_a_topic_the_pages_are_listed(pgdl: Pgdl) -> None:
    ended = pgdl("help")
    assert (ended.code, ended.err) == (0, "")
    pages = {page.stem for page in (ROOT / "docs").glob("*.md")} - {"reference"}
    assert {line.split()[0] for line in ended.out.splitlines()} == pages
    assert "outcomes             Outcomes" in ended.out


def test_a_page_or_a_section_is_laid_out_and_its_links_are_commands(pgdl: Pgdl) -> None:
    ended = pgdl("help", "outcomes")
    assert (ended.code, ended.err) == (0, "")
    assert pgdl("help", "docs/outcomes.md") == ended
    assert re.search(r"^ TIMEOUT +the wall-clock time exceeded", ended.out, re.MULTILINE)
    assert "pgdl help" in ended.out
    assert not re.search(r"\]\(|\*\*|\.md\b| $", ended.out, re.MULTILINE)
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
    variables = {"_PGDL_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    ended = pgdl()
    assert (ended.code, ended.out.split(), ended.err) == (0, expected, "")


#: An option; a command in a sentence or in a line of its own; commands of other programs, and the label of an option.
OPTION = re.compile(r"(?<![\w/-])--[a-z][a-z0-9-]+")
COMMAND = re.compile(r"`pgdl ([^`]*)`|^pgdl ([a-z].*)$", re.MULTILINE)
NO_ADVICE = re.compile(r"`[^`]*`|^pgdl .*$|\b(?:(pip|pipx|tool) install|torch|git fetch) [^;]*|^--[a-z-]+", re.M)

RUNS = ("run", "check", "compare")

#: Module with advice -> the commands that print it. Advice that names its command needs no entry.
PRINTED_BY = {
    "api/tasks.py": ("task show",),
    "api/ci.py": ("ci",),
    "api/ci_files.py": ("ci",),
    "ci/results.py": ("ci",),
    "api/commands.py": ("run",),
    "api/comparisons.py": ("compare",),
    "api/competition.py": ("board", "score"),
    "api/costs.py": ("measures",),
    "api/execution.py": RUNS,
    "api/scores.py": ("score",),
    "api/submissions.py": ("run",),
    "api/tally.py": ("run", "compare"),
    "board/advice.py": ("check",),
    "board/disclosure.py": ("board", "score", "report", "compare", "ci"),
    "board/formats/table.py": ("board",),
    "board/leaderboard.py": RUNS,
    "codabench/platform.py": ("codabench collect", "codabench submissions", "codabench publish"),
    "corpus/build.py": ("task build",),
    "corpus/trainer.py": ("task build",),
    "execution/cluster/agreement.py": RUNS,
    "execution/executors/ray.py": (*RUNS, "ci", "doctor"),
    "execution/plan.py": ("run", "check"),
    "fetch/archive.py": ("task fetch",),
    "fetch/catalogue.py": ("task fetch",),
    "fetch/corpus.py": ("task fetch",),
    "fetch/session.py": ("task fetch",),
    "fetch/staging.py": ("task fetch",),
    "importer/run.py": ("task import",),
    "protocols/invariance/perturbations.py": ("invariance",),
    "protocols/invariance/study.py": ("invariance",),
    "protocols/overfit/settings.py": ("overfit",),
    "protocols/subject.py": ("overfit",),
    "records/evaluation.py": ("run",),
    "records/schema.py": ("run", "score", "board", "report", "results", "ci"),
    "records/tables.py": ("run", "score", "board", "report", "results", "ci"),
    "submission/find.py": ("run",),
    "submission/name.py": ("run", "check"),
    "task/hidden.py": (*RUNS, "score", "report", "board", "task show", "task list", "task validate"),
    "task/layout.py": (*RUNS, "score", "report", "board", "task show"),
    "testing/executor_contract.py": ("run",),
    "worker/runtimes/runtime.py": ("run", "check"),
}


def find(words: str) -> click.Command:
    """Return the command that `words` begin with; the first word that is no command is an argument."""
    found: click.Command = cli
    for word in words.split():
        if not isinstance(found, click.Group):
            break
        below = found.get_command(click.Context(found), word)
        if below is None:
            assert not re.fullmatch("[a-z]+", word), f"no command `pgdl {words}`"
            break
        found = below
    return found


def options_of(command: click.Command) -> set[str]:
    return {name for parameter in command.params for name in parameter.opts + parameter.secondary_opts} | {"--help"}


def texts(file: Path) -> Iterator[str]:
    """Yield all string constants of a module, except docstrings."""
    tree = ast.parse(file.read_text())
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    parts |= {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            yield node.value


MODULES = [file for file in sorted(ROOT.joinpath("harness").rglob("*.py")) if "sandbox" not in file.parts]


def test_commands_are_there_with_their_options() -> None:
    n_commands = 0
    for file in [*MODULES, *ROOT.joinpath("docs").glob("*.md"), ROOT / "README.md"]:
        for text in texts(file) if file.suffix == ".py" else [file.read_text()]:
            for match in COMMAND.finditer(text):
                words = re.sub(r"\s#.*|[|>;&].*|\\$", "", match[1] or match[2])
                unknown = set(OPTION.findall(words)) - options_of(find(words))
                assert not unknown, f"{file}: pgdl {words}"
                n_commands += 1
    assert n_commands > 100


def advice(file: Path) -> set[str]:
    """Return the options that a module names in sentences, outside of quoted commands and labels."""
    sentences = (NO_ADVICE.sub("", text) for text in texts(file) if " " in text.strip())
    return {option for text in sentences for option in OPTION.findall(text)}


@pytest.mark.rest
def test_whichever_command_prints_advice_has_its_options() -> None:
    for module, commands in PRINTED_BY.items():
        for words in commands:
            assert advice(ROOT / "harness" / module) <= options_of(find(words)), f"{module}: {words}"
    # `pgdl doctor` advises options of other commands.
    of_others = {"cli", "doctor.py", "doctor_cluster.py", "doctor_sandbox.py"}
    files = [file for file in MODULES if not of_others & set(file.parts)]
    modules = {str(file.relative_to(ROOT / "harness")): advice(file) for file in files}
    assert {name: found for name, found in modules.items() if found and name not in PRINTED_BY} == {}
