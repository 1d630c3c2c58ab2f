"""Tests of the report of tests/gpu/run, and of how its steps end."""

import os
import runpy
import subprocess
import sys
import time
from pathlib import Path

import gpu_all_steps
import gpu_steps
import pytest
from gpu_report import FAILED, OK, SKIPPED, Result, to_markdown
from gpu_steps import STEPS, Skip, perform

HERE = Path(__file__).parent


def test_a_report_has_a_row_per_step_and_a_section_for_each_with_details() -> None:
    results = [
        Result("first", OK, "2 | 3", "| a | b |", 1.6),
        Result("second", SKIPPED, "no GPU"),
        Result("third", FAILED, "an\nerror", seconds=100),
    ]
    assert to_markdown(results, "2026-01-02 03:04") == (
        "# Checks on this machine\n\n"
        "Begun 2026-01-02 03:04. 1 ok, 1 FAILED, 1 skipped.\n\n"
        "| step |  | finding | s |\n| --- | --- | --- | --- |\n"
        "| first | ok | 2 \\| 3 | 2 |\n| second | skipped | no GPU | 0 |\n| third | FAILED | an error | 100 |\n\n"
        "## first\n\n| a | b |\n"
    )


def test_steps_end_in_three_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    def skips() -> str:
        raise Skip("no GPU")

    def fails() -> str:
        raise RuntimeError("no memory")

    for run in (lambda: "5 calls", skips, fails):
        monkeypatch.setitem(STEPS, run.__name__, gpu_steps.Step(run, "", 1.0))
    assert [perform(name) for name in ("<lambda>", "skips", "fails")] == [
        (OK, "5 calls"), (SKIPPED, "no GPU"), (FAILED, "RuntimeError: no memory"),
    ]  # fmt: skip


def test_without_a_gpu_its_steps_say_so() -> None:
    if Path("/proc/driver/nvidia/gpus").exists():
        pytest.skip("this machine has a GPU")
    for name in ("needed_files", "growth", "host_limit", "kill", "traces", "one_of_several"):
        state, finding = perform(name)
        assert (state, finding.partition(":")[0]) == (SKIPPED, "no GPU")


@pytest.fixture
def run_step() -> object:
    """The function `perform` of tests/gpu/run."""
    return runpy.run_path(str(HERE / "run"))["perform"]


@pytest.mark.rest
def test_a_step_that_hangs_is_killed_with_all_that_it_started(run_step, tmp_path: Path) -> None:
    program = f"echo begun; sleep 600 & echo $! > {tmp_path}/child; wait"
    result = run_step(["/bin/sh", "-c", program], "hangs", 5.5, time.monotonic() + 1000)
    assert (result.state, result.finding) == (FAILED, "did not end within 6 s")
    assert "begun" in result.details
    child = int((tmp_path / "child").read_text())
    for _ in range(100):
        if not Path(f"/proc/{child}").exists() or Path(f"/proc/{child}/stat").read_text().split()[2] == "Z":
            break
        time.sleep(0.05)
    else:
        os.kill(child, 9)
        pytest.fail("its child is alive")


def test_a_step_that_crashes_and_one_without_time(run_step) -> None:
    crashed = run_step(["/bin/sh", "-c", "echo half; exit 3"], "crashes", 60, time.monotonic() + 1000)
    assert (crashed.state, crashed.finding) == (FAILED, "ended with status 3")
    assert "half" in crashed.details
    late = run_step(["/bin/false"], "late", 60, time.monotonic() + 1)
    assert (late.state, late.finding) == (SKIPPED, "no time was left (--seconds)")


def test_every_step_is_listed_once_for_the_runner() -> None:
    assert sorted(gpu_all_steps.ORDER) == sorted(STEPS)
    done = subprocess.run([sys.executable, HERE / "gpu_steps.py"], capture_output=True, text=True, check=True, cwd=HERE)
    assert done.stdout.count('"') == 4 * len(STEPS)
