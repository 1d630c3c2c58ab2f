"""Tests of a process that answers questions: answers, end and limits."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest
from e2e.real_runs import heed_interrupts
from processes.conftest import is_alive, started, wait_for_end

from harness.errors import UserError
from harness.importer.data import read_examples
from harness.processes import FaultError, NoAnswerError, Process, UnableError, channel
from harness.processes.runtimes import environment
from harness.protocols.testbed.images import read_images
from harness.worker.runtimes import RUNTIMES

MEMORY = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")

ASKS = """
import sys
from harness.processes import Process
from harness.worker.runtimes import RUNTIMES

with Process("tests.processes.odd_program", RUNTIMES["jax"], threads=1) as process:
    process.ask({"do": "sleep", "detail": sys.argv[1]})
"""


def test_answers_and_events_come_in_their_order_and_what_is_printed_is_none(start):
    said = []

    def interrupt(_event):
        raise KeyboardInterrupt

    with start() as process:
        assert process.ask({"do": "nothing"}) == process.ask({"do": "print"}) == process.ask({"do": "print"}) == {}
        assert process.ask({"do": "count", "detail": 3}, said.append) == {}
        with pytest.raises(KeyboardInterrupt):
            process.ask({"do": "count", "detail": 1}, interrupt)
        assert "pid" in process.ask({"do": "look"}), "not the answer that was not waited for"
    assert said == [{"number": 0}, {"number": 1}, {"number": 2}]


@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "http_proxy", "ALL_PROXY"])
def test_a_password_of_a_proxy_reaches_those_processes_alone_that_may_download(variable, monkeypatch):
    monkeypatch.setenv(variable, "http://me:sesame@proxy:3128")
    monkeypatch.setenv("PGDL_RESULTS", "postgresql://me:sesame@host/name")
    for own_data in (False, True):
        found = environment(RUNTIMES["tensorflow"], 1, False, own_data=own_data)
        assert [name for name, value in found.items() if "sesame" in value] == [variable] * own_data
    with_gpu = environment(RUNTIMES["tensorflow"], 1, True, own_data=False)
    assert with_gpu["NVIDIA_TF32_OVERRIDE"] == "0", "a GPU computes in full precision"


def test_what_the_user_can_mend_is_one_line_and_a_fault_of_the_program_keeps_its_traceback(start):
    with start() as process:
        with pytest.raises(NoAnswerError, match=r"^its outputs: expected numbers, found none$") as refused:
            process.ask({"do": "refuse"})
        assert not isinstance(refused.value, UnableError)
        for question, line in (
            ({"do": "fail"}, "in answer\n    json.loads"),
            ({"do": "answer a set"}, "TypeError: Object of type set"),
            ({"do": "answer at length", "detail": channel.MAX_LINE}, "ValueError: a line of"),
        ):
            with pytest.raises(FaultError, match=r"^tests\.processes\.odd_program failed:\nTraceback") as failed:
                process.ask(question)
            assert line in str(failed.value)
            assert process.ask({"do": "nothing"}) == {}


def test_a_program_that_does_not_start(start):
    with start("refuse") as process:
        for _ in range(2):
            with pytest.raises(UnableError, match=r"^data\.npz: cannot be read$"):
                process.ask({"do": "nothing"})
    with start("fail") as process, pytest.raises(FaultError, match=r"in prepare\n.*\n.*KeyError: 'of the program'"):
        process.ask({"do": "nothing"})


def test_a_process_that_dies_says_how_and_another_answers_the_next_question(start):
    killed = "the process ended with SIGKILL; it may use 60 % of the machine's memory"
    with start() as process:
        pids = [process.ask({"do": "look"})["pid"]]
        for status, end in ((None, killed), (7, "last words"), (0, "last words")):
            with pytest.raises(UnableError, match=f"^{end}$"):
                process.ask({"do": "die", "detail": status})
            pids.append(process.ask({"do": "look"})["pid"])
        os.kill(pids[-1], signal.SIGKILL)  # between two questions
        wait_for_end(pids[-1:])
        pids.append(process.ask({"do": "look"})["pid"])
    assert len(set(pids)) == 5


def test_memory_is_limited(start):
    with start() as process:
        with pytest.raises(NoAnswerError, match=r"^out of memory$"):
            process.ask({"do": "allocate", "detail": MEMORY})
        assert process.ask({"do": "look"})["memory"] <= 0.6 * MEMORY
    with start(own_data=True) as process:
        assert process.ask({"do": "look"})["memory"] == -1


def test_a_line_that_cannot_be_read_ends_the_process(start, monkeypatch):
    monkeypatch.setattr(channel, "MAX_LINE", 2000)
    with start() as process:
        for text, times, problem in (
            ("x", 2001, "more than 2000 bytes"),
            ("{\n", 1, "Expecting property name.*"),
            (f"{'[' * 1900}\n", 1, "nested deeper than 200 levels"),
            ("1\n", 1, "cannot unpack.*"),
        ):
            pid = process.ask({"do": "look"})["pid"]
            with pytest.raises(UnableError, match=f"^its answer cannot be read: {problem}$"):
                process.ask({"do": "write", "detail": text, "times": times})
            assert not is_alive(pid)


def test_time_is_limited_and_temporary_files_go_with_their_process(start, tmp_path, monkeypatch):
    """Temporary files, such as those of the framework's compiler, are removed although the process is killed."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    with start() as process:
        assert Path(process.ask({"do": "leave a file"})["file"]).parents[1] == place
        with pytest.raises(UnableError, match=r"^no answer within 0\.5 s$"):
            process.ask({"do": "sleep", "detail": str(tmp_path / "pids")}, seconds=0.5)
        wait_for_end(started(tmp_path / "pids"))
    assert list(place.iterdir()) == []


def test_a_question_that_is_cancelled_ends_all_of_it_for_good(start, tmp_path):
    with start() as process:
        canceller = threading.Thread(target=lambda: (started(tmp_path / "pids"), process.cancel()))
        canceller.start()
        for _ in range(2):
            with pytest.raises(UnableError, match=r"^cancelled$"):
                process.ask({"do": "sleep", "detail": str(tmp_path / "pids")})
        canceller.join()
    wait_for_end(started(tmp_path / "pids"))


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_no_process_outlives_a_command_that_is_interrupted_or_killed(start, tmp_path, how):
    command = subprocess.Popen(
        [sys.executable, "-c", ASKS, tmp_path / "pids"], stderr=subprocess.PIPE, text=True, start_new_session=True,
        preexec_fn=heed_interrupts,
    )  # fmt: skip
    try:
        process, child = started(tmp_path / "pids")
        os.killpg(command.pid, how)  # as a terminal does, to the whole group
        _, errors = command.communicate(timeout=240)
    finally:
        command.kill()
    wait_for_end([process])
    if how == signal.SIGINT:
        assert errors.rstrip().endswith("KeyboardInterrupt")
        assert not is_alive(child)
    else:
        os.kill(child, signal.SIGKILL)


def test_gpus_are_hidden_from_what_must_not_use_one(start, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3")
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "7")  # of this process
    seen = {}
    for gpu in (False, "GPU-of-a-trainer", True):
        with start(gpu=gpu) as process:
            answer = process.ask({"do": "look"})
        seen[gpu] = answer["CUDA_VISIBLE_DEVICES"], answer["JAX_PLATFORMS"]
        assert answer["OMP_NUM_THREADS"] == answer["OPENBLAS_NUM_THREADS"] == "1"
    assert seen == {False: ("-1", "cpu"), "GPU-of-a-trainer": ("GPU-of-a-trainer", ""), True: ("3", "")}


@pytest.mark.parametrize(
    "read", [lambda: read_images("digits", (8, 8, 1)), lambda: read_examples("mnist", "train", (28, 28, 1))]
)
def test_what_only_reads_data_sees_no_gpu(monkeypatch, read):
    seen = []

    def refuse(process):
        seen.append(process._environment["CUDA_VISIBLE_DEVICES"])
        raise UnableError("enough is known")

    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    monkeypatch.setattr(Process, "_start", refuse)
    with pytest.raises(UserError, match="enough is known"):
        read()
    assert seen == ["-1"]
