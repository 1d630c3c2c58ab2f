"""Tests of displayed progress, on the terminal and in notebooks: steps of runs, downloads and builds."""

import io
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
import pytest
from in_process import Pgdl
from rich.console import Console

import pgdl as api
from harness.cli import bars, build_progress, run_progress, transfer
from harness.cli.bars import CurrentStep
from harness.cli.build_progress import BuildProgress
from harness.cli.run_progress import RunProgress
from harness.cli.terminal import Terminal
from harness.cli.transfer import Transfer
from harness.codabench.ingestion import OutOfTimeError
from harness.corpus.build import Event
from harness.corpus.catalogue import find_recipe
from harness.corpus.recipe import read_recipe
from harness.errors import UserError
from harness.execution.plan import plan_calls
from harness.execution.run import CallSummary, Plan
from tests.execution.planned_things import NOWHERE_TO_RUN, SETTINGS, make_submission
from tests.execution.planned_things import make_task as planned_task
from tests.throwaway import make_task


class Shown(Console):
    """Keeps its output."""

    def __init__(self, width: int = 120, *, force_terminal: bool = False) -> None:
        super().__init__(file=io.StringIO(), width=width, force_terminal=force_terminal)

    @property
    def text(self) -> str:
        return self.file.getvalue()  # type: ignore[attr-defined,no-any-return]

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines()


HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"  #: the cursor


class Events(api.Progress):
    """A progress display that stores all events in their order."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def step(self, line: str) -> None:
        self.seen.append(line)

    def prepared(self, *_: Any) -> None:
        self.seen.append("PREPARED")

    def started(self, *_: Any) -> None:
        self.seen.append("STARTED")


def test_a_terminal_shows_a_step_until_the_next_and_mistakes_and_notes_end_it(monkeypatch: pytest.MonkeyPatch) -> None:
    console = Shown(force_terminal=True)
    step = CurrentStep(console)
    step.begin("reading 2 tasks")
    step.begin("planning the calls")
    assert console.text.count(HIDE) == console.text.count(SHOW) + 1
    step.end()
    assert console.text.index("reading 2 tasks") < console.text.index("planning the calls")
    assert console.text.endswith("\x1b[2K")  # the line is erased
    assert (shown := console.text.count(HIDE)) == console.text.count(SHOW)
    monkeypatch.setattr("harness.cli.terminal.wide_console", lambda **_: console)
    with suppress(UserError), Terminal(Shown()) as progress:
        progress.step("reading 1 task")
        raise UserError("no such task")
    assert console.text.count(HIDE) == console.text.count(SHOW) == shown + 1
    monkeypatch.setattr("harness.cli.terminal.say", lambda line, **_: console.file.write(line))
    with Terminal(Shown()) as progress:
        progress.step("reading 1 task")
        progress.note("tiny: no official score")
    assert console.text.endswith("\x1b[2Kpgdl: tiny: no official score")


def test_without_a_terminal_only_a_step_that_lasts_is_told_and_a_quiet_command_tells_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    step = CurrentStep(Shown())
    step.begin("planning the calls")
    monkeypatch.setattr(bars, "LINE_EVERY_S", 0.01)
    step.begin("reading 2 tasks")
    told = ""
    while not told:
        time.sleep(0.01)
        told = capsys.readouterr().err
    step.end()
    assert told.splitlines()[0] == "pgdl: reading 2 tasks, for 0 min so far"
    monkeypatch.setattr(bars.threading, "Thread", None)
    CurrentStep(Console(quiet=True, file=io.StringIO())).begin("reading 2 tasks")


@pytest.mark.usefixtures("known_shapes", "sandbox")
def test_a_notebook_gets_every_step_and_a_run_with_nothing_to_do_prepares_nothing(pgdl: Pgdl, folder: Path) -> None:
    make_task(folder / "task_data", n_models=2)
    steps = ["reading the submissions", "trying the sandbox", "reading 1 task", "PREPARED", "planning the calls"]
    first, second = Events(), Events()
    api.run("num_params", progress=first)
    assert first.seen == [*steps, "STARTED", "preparing the sandbox, which imports tensorflow", "making 2 calls"]
    api.run("num_params", progress=second)
    assert second.seen == [*steps, "STARTED"]
    ended = pgdl("run", "num_params")
    assert ended.out.startswith("2 of 2 calls are recorded already")
    assert not any(step in ended.out for step in first.seen)
    assert not any(step in ended.err for step in steps)


def test_a_line_a_minute_says_how_much_is_done_and_left(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter([0, 30, 70, 100, 140])  # at the start, and at each call
    monkeypatch.setattr(run_progress.time, "monotonic", lambda: next(seconds))
    calls = plan_calls([make_submission()], [planned_task(12)], SETTINGS, NOWHERE_TO_RUN)
    console = Shown()
    progress = RunProgress(calls, console)
    for call in calls[:4]:
        progress.seen(CallSummary(call, "OK", 1.0))
    assert console.lines == ["2 of 12 calls done, about 6 min left", "4 of 12 calls done, about 5 min left"]


def test_failures_that_differ_in_numbers_alone_are_printed_once_and_counted() -> None:
    calls = plan_calls([make_submission("mine")], [planned_task(10)], SETTINGS, NOWHERE_TO_RUN)
    console = Shown()
    progress = RunProgress(calls, console)
    messages = ["no 1.5 s", "no 2 s", "odd", "no 64 s", *(f"letter {one}" for one in "abcdef")]
    for call, message in zip(calls, messages, strict=True):
        progress.seen(CallSummary(call, "EXCEPTION", 1.0, message=message))
    shown = [line.partition("EXCEPTION: ")[2] for line in console.lines[:5]]
    assert shown == ["no 1.5 s", "odd", "letter a", "letter b", "letter c"]
    assert console.lines[5:] == [
        "mine: further failures are counted below", "mine: 2 similar calls: EXCEPTION: no 1.5 s",
        "mine: 3 other calls failed with other messages", "mine: 10 calls done, 10 failed",
    ]  # fmt: skip


def test_a_transfer_has_a_bar_on_a_terminal_and_else_a_line_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """A transfer of 120 seconds at a million bytes per second."""
    console = Shown(force_terminal=True)
    with Transfer(console) as watcher:
        watcher.begin(4_000_000)
        watcher.seen(1_000_000)
    assert ("fetching" in console.text, "1.0/4.0 MB" in console.text) == (True, True)
    clock, shown = iter(range(1000)), Shown()
    monkeypatch.setattr(transfer.time, "monotonic", lambda: float(next(clock)))
    with Transfer(shown) as watcher:
        watcher.begin(300_000_000)
        for _ in range(120):
            watcher.seen(1_000_000)
        watcher.note("a note")
    assert shown.lines == [
        "fetching: 300.0 MB", "fetching: 60.0 MB of 300.0 MB, 1.0 MB/s, about 4 min left",
        "fetching: 120.0 MB of 300.0 MB, 1.0 MB/s, about 3 min left", "a note",
    ]  # fmt: skip


def test_a_build_tells_a_line_a_minute_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 10_000, 20))
    monkeypatch.setattr(build_progress.time, "monotonic", lambda: float(next(clock)))
    console = Shown(160)
    metrics = {"train_acc": 1.0, "test_acc": 0.9}
    with BuildProgress(read_recipe(find_recipe("digits_vgg")), 32, console) as progress:
        for epoch in range(1, 6):
            progress(Event("look", 0, {"epoch": epoch, "cross_entropy": 1 / epoch, "accuracy": 0.5}))
        progress(Event("done", 0, {"metrics": metrics, "reached": True, "epochs": 5, "seconds": 100.0}))
    assert console.lines[0] == "0 of 32 models done; model_0: epoch 3, cross-entropy 0.3333, accuracy 0.5000"
    assert [line.partition(" ")[0] for line in console.lines[1:]] == ["model_0"]


def test_whoever_may_go_on_is_told_what_is_recorded() -> None:
    """A container that is out of time is not called again."""

    def told(error: type[BaseException], recorded: int, force: bool) -> list[str]:
        console, context = Shown(), click.Context(click.Command("run"))
        context.params["force"] = force
        terminal = Terminal(console)
        terminal.started(Plan((), ()), "results.db")
        try:
            raise error
        except error:
            with context:
                terminal.finished(recorded, 8)
        return console.lines

    line = "Recorded: at least 3 of 8 calls; the same command{} resumes the run."
    assert told(ZeroDivisionError, 3, False) == [line.format("")]
    assert told(KeyboardInterrupt, 3, True) == [line.format(" without --force")]
    assert told(ZeroDivisionError, 0, False) == told(OutOfTimeError, 3, False) == []
