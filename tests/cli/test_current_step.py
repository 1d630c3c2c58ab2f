"""What a user sees, and a notebook is told, between a command and its first call."""

import io
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from in_process import Pgdl
from rich.console import Console
from shared_zygotes import SharedZygotes

import pgdl as api
from harness.cli import current_step
from harness.cli.current_step import CurrentStep
from harness.cli.terminal import Terminal
from harness.errors import UserError
from harness.sandbox import Fresh
from tests.throwaway import make_task

HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"  #: the cursor


class Events(api.Progress):
    """Remembers all steps, and where they end."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def step(self, line: str) -> None:
        self.seen.append(line)

    def prepared(self, *_: Any) -> None:
        self.seen.append("PREPARED")

    def started(self, *_: Any) -> None:
        self.seen.append("STARTED")


def terminal() -> tuple[Console, io.StringIO]:
    text = io.StringIO()
    return Console(file=text, force_terminal=True, width=80), text


def test_a_terminal_shows_a_step_until_the_next_and_leaves_nothing() -> None:
    console, text = terminal()
    step = CurrentStep(console)
    step.begin("reading 2 tasks")
    step.begin("planning the calls")
    assert text.getvalue().count(HIDE) == text.getvalue().count(SHOW) + 1
    step.end()
    assert text.getvalue().index("reading 2 tasks") < text.getvalue().index("planning the calls")
    assert text.getvalue().endswith("\x1b[2K")  # the line is erased
    assert text.getvalue().count(HIDE) == text.getvalue().count(SHOW)


def test_a_mistake_ends_the_step(monkeypatch: pytest.MonkeyPatch) -> None:
    console, text = terminal()
    monkeypatch.setattr("harness.cli.terminal.wide_console", lambda **_: console)
    with suppress(UserError), Terminal(Console(file=io.StringIO())) as progress:
        progress.step("reading 1 task")
        raise UserError("no such task")
    assert text.getvalue().count(HIDE) == text.getvalue().count(SHOW) == 1


def test_a_note_takes_the_place_of_the_step(monkeypatch: pytest.MonkeyPatch) -> None:
    console, text = terminal()
    monkeypatch.setattr("harness.cli.terminal.wide_console", lambda **_: console)
    monkeypatch.setattr("harness.cli.terminal.say", lambda line, **_: text.write(line))
    with Terminal(Console(file=io.StringIO())) as progress:
        progress.step("reading 1 task")
        progress.note("tiny: no official score")
    assert text.getvalue().endswith("\x1b[2Kpgdl: tiny: no official score")


def test_without_a_terminal_only_a_step_that_lasts_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    step = CurrentStep(Console(file=io.StringIO()))
    step.begin("planning the calls")
    monkeypatch.setattr(current_step, "LINE_EVERY_S", 0.01)
    step.begin("reading 2 tasks")
    told = ""
    while not told:
        time.sleep(0.01)
        told = capsys.readouterr().err
    step.end()
    assert told.splitlines()[0] == "pgdl: reading 2 tasks, for 0 min so far"


def test_a_quiet_command_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(current_step.threading, "Thread", None)
    CurrentStep(Console(quiet=True, file=io.StringIO())).begin("reading 2 tasks")


@pytest.mark.usefixtures("known_shapes")
def test_a_notebook_gets_every_step_and_a_run_with_nothing_to_do_prepares_nothing(
    pgdl: Pgdl, folder: Path, zygotes: SharedZygotes
) -> None:
    if (problem := Fresh().problem()) is not None:
        pytest.skip(f"no sandbox here: {problem}")
    make_task(folder / "task_data", n_models=2)
    steps = ["reading the submissions", "trying the sandbox", "reading 1 task", "PREPARED", "planning the calls"]
    first, second = Events(), Events()
    with zygotes.used():
        api.run("num_params", progress=first)
    assert first.seen == [*steps, "STARTED", "preparing the sandbox, which imports tensorflow", "making 2 calls"]
    api.run("num_params", progress=second)
    assert second.seen == [*steps, "STARTED"]
    ended = pgdl("run", "num_params")
    assert ended.out.startswith("2 of 2 calls are recorded already")
    assert not any(step in ended.out for step in first.seen)
    assert not any(step in ended.err for step in steps)
