"""Tests of several processes that share questions; a question's files exist only while it is answered."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest
from forks import forks
from processes.conftest import started, wait_for_end

from harness.errors import UserError
from harness.processes import ask_all, several, share_out
from harness.worker.runtimes import RUNTIMES

pytestmark = pytest.mark.rest


class Questions:
    """Questions as contexts; `entered` lists the numbers of the questions whose contexts are open."""

    def __init__(self, *orders):
        self.entered = []
        self.all = [self.asking(number, order) for number, order in enumerate(orders)]

    @contextmanager
    def asking(self, number, order):
        self.entered.append(number)
        try:
            yield order
        finally:
            self.entered.remove(number)


@pytest.fixture
def two(start):
    with ExitStack() as stack:
        yield [stack.enter_context(start()) for _ in range(2)]


def test_every_question_gets_its_replies(two):
    orders = [{"do": "count", "detail": number} for number in range(4)]
    questions = Questions(*orders, {"do": "die"}, {"do": "refuse"}, {"do": "look"})
    replies = list(share_out(two, questions.all))
    for number in range(4):
        own = [reply for reply in replies if reply.position == number]
        assert [reply.event for reply in own] == [*({"number": n} for n in range(number)), None]
        assert own[-1].answer == {}
    ends = {reply.position: str(reply.error or reply.answer) for reply in replies if reply.position > 3}
    assert ends[4].startswith("the process ended with SIGKILL")
    assert ends[5].startswith("its outputs")
    assert "pid" in ends[6]
    assert questions.entered == []


def test_closing_half_way_ends_the_processes_and_removes_the_files(two, tmp_path):
    sleep = {"do": "sleep", "detail": str(tmp_path / "pids")}
    questions = Questions({"do": "nothing"}, sleep, sleep, {"do": "nothing"})
    with closing(share_out(two, questions.all)) as replies:
        assert next(replies).position == 0
        pids = started(tmp_path / "pids")
        assert questions.entered
    assert questions.entered == []
    wait_for_end(pids)


def test_a_fault_ends_them_all(two):
    with pytest.raises(RuntimeError, match="Traceback"):
        list(share_out(two, Questions({"do": "fail"}, {"do": "nothing"}).all))


def test_models_that_cannot_be_run_do_not_lose_the_others(start, monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0})
    asked = Questions({"do": "nothing"}, {"do": "refuse"}, {"do": "die"}, {"do": "nothing"})
    answers = dict(ask_all("tests.processes.odd_program", RUNTIMES["jax"], asked.all))
    assert (answers[0], answers[3]) == ({}, {})
    assert all(isinstance(answers[number], UserError) for number in (1, 2))
    assert str(answers[1]) == "cannot be run: found its outputs: expected numbers, found none"
    assert several.cannot_be_run("why").args == ("cannot be run: found why",)
    monkeypatch.setattr(several, "Process", None)
    assert list(ask_all("tests.processes.odd_program", RUNTIMES["jax"], [])) == [], "no question starts no process"


def test_all_threads_that_wait_for_a_fork_learn_how_it_ended():
    program = [sys.executable, "-c", "import time; time.sleep(0.2); raise SystemExit(3)"]
    with Path(os.devnull).open("rb+") as none, ThreadPoolExecutor(8) as threads:
        fork = forks.start("tensorflow", program, os.environ, [none.fileno()] * 3)
        assert list(threads.map(fork.wait, [None] * 4 + [60] * 4)) == [3] * 8
    assert fork.poll() == 3
