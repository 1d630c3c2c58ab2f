"""Tests of the report of `pgdl check`: its table, formats for CI, warnings, forecasts, and hidden tasks.

Outputs of calls are printed below the table, never within it.
"""

import io
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from in_process import Pgdl

from harness.api.check_report import CheckReport, to_github, to_json, to_junit
from harness.cli.check import command
from harness.cli.check_table import LINES, CallTable, print_outputs
from harness.execution.budget import TimeBudget
from harness.execution.check import Trial
from harness.execution.forecast import forecast
from harness.execution.order import FinishedCall
from harness.execution.plan import plan_calls
from harness.outcome import CallResult, Outcome
from harness.tables import SafeConsole, wide_console
from tests.execution.planned_things import NOWHERE_TO_RUN, SETTINGS, make_submission, make_task

NOW = datetime(2026, 1, 1, tzinfo=UTC)
OK = CallResult(Outcome.OK, 1.5, call_wall_s=2.0, peak_memory_bytes=300 * 1024**2, output_tail="seen 3 layers\n")
FAILED = CallResult(
    Outcome.EXCEPTION, message="ValueError: 100% wrong\n::error::not mine",
    output_tail='Traceback\n  File "/job/submission/complexity.py", line 7, in complexity\nValueError\n',
)  # fmt: skip


def trial(results: Sequence[CallResult], again: CallResult, start_s: float = 3.0, calls_s: float = 6.0) -> Trial:
    """Return a trial with one call per result, on a task of eight models."""
    submission = replace(make_submission("mine"), source=str(Path.cwd() / "mine.py"))
    calls = sorted(plan_calls([submission], [make_task(8)], SETTINGS, NOWHERE_TO_RUN), key=lambda call: call.model.id)
    done = tuple(
        FinishedCall(call, result, NOW, {}, "bubblewrap/fast") for call, result in zip(calls, results, strict=False)
    )
    return Trial(tuple(calls), done, FinishedCall(calls[0], again, NOW, {}, "bubblewrap/fast"), start_s, calls_s)


def report(results: Sequence[CallResult], again: CallResult | None = None, withheld: Sequence[str] = ()) -> CheckReport:
    made = trial(results, again or results[0])
    return CheckReport(made.calls[0].submission, made, None, withheld)


DIFFERENT = [OK, replace(OK, value=2.5)]
SAME = "the same value for all models tried; such a measure cannot rank them"


def test_a_notebook_shows_the_verdict_each_failure_once_and_what_is_doubtful() -> None:
    failure = "EXCEPTION on toy/model_1: ValueError: 100% wrong ::error::not mine"
    assert repr(report([OK, FAILED, FAILED])) == f"mine does not pass: 2 EXCEPTION, 1 OK\n{failure}"
    assert repr(report([OK, FAILED], withheld=["toy"])) == "mine does not pass: 1 EXCEPTION, 1 OK"
    assert repr(report([OK, OK])).startswith(f"mine passes: 2 OK\nWarning: {SAME}")
    assert (report(DIFFERENT).warnings, report([OK, OK]).warnings) == ([], [SAME])
    (warning,) = report(DIFFERENT, replace(OK, value=9.0)).warnings
    assert warning == "not repeatable: the same call gave 1.5 and 9.0; draw from the seeded generators"
    assert report(DIFFERENT, replace(OK, value=9.0), withheld=["toy"]).warnings == [], "values are withheld"


def test_json_has_what_may_be_shown() -> None:
    content = json.loads(to_json(report([OK, FAILED])))
    assert (content["submission"], content["passed"], content["problem"]) == ("mine", False, None)
    first, second = content["calls"]
    assert (first["outcome"], first["value"], first["output"]) == ("OK", 1.5, "seen 3 layers\n")
    assert (second["outcome"], second["value"], second["seconds"]) == ("EXCEPTION", None, 0.0)
    hidden = json.loads(to_json(report([OK, FAILED], withheld=["toy"])))
    assert (hidden["calls"], hidden["withheld"]) == ([], {"toy": {"OK": 1, "EXCEPTION": 1}})
    for results, again in (([FAILED, OK], FAILED), ([OK, OK], FAILED), ([FAILED, OK], OK)):
        assert report(results, again, ["toy"]).counts == {"toy": {"OK": 1, "EXCEPTION": 1}}, "each model counts once"


def test_junit_is_well_formed_counts_and_has_no_commands_in_a_log_of_github() -> None:
    suite = ET.fromstring(to_junit(report([OK, FAILED])))
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    failure = suite.find("testcase/failure")
    assert (failure.get("type"), failure.get("message").split("\n")[0]) == ("EXCEPTION", "ValueError: 100% wrong")
    hidden = ET.fromstring(to_junit(report([OK, FAILED], withheld=["toy"])))
    assert "wrong" not in ET.tostring(hidden, encoding="unicode")
    assert hidden.get("failures") == "1"
    output = "::add-mask::x\n  ::error::y\n##[error]z\nlast"
    text = to_junit(report([replace(OK, output_tail=output)]))
    assert not [line for line in text.splitlines() if line.strip().startswith(("::", "##["))]
    assert ET.fromstring(text).findtext("testcase/system-out") == output


def test_annotations_point_to_the_line_and_cannot_be_commands_of_their_own() -> None:
    lines = to_github(report([OK, FAILED, FAILED])).splitlines()
    assert lines == [
        "::error file=mine.py,line=7::EXCEPTION on toy/model_1: ValueError: 100%25 wrong%0A::error::not mine"
    ]
    assert to_github(report([OK, OK])).startswith("::warning file=mine.py::the same value")
    assert to_github(report([OK, FAILED], withheld=["toy"])) == "::error file=mine.py::1 of 2 calls on toy failed"


def test_a_submission_that_cannot_be_run_needs_no_trial() -> None:
    broken = CheckReport(replace(make_submission("mine"), source="/x/mine.py", problem="expected a file complexity.py"))
    assert (broken.passed, repr(broken)) == (False, "mine does not pass: expected a file complexity.py")
    assert json.loads(to_json(broken))["problem"] == "expected a file complexity.py"
    assert 'message="expected a file complexity.py"' in to_junit(broken)
    assert to_github(broken).endswith("::expected a file complexity.py")


def test_a_forecast_counts_all_that_a_call_costs_and_the_calls_that_may_not_fit() -> None:
    """Three calls of 2 s, one at a time, take 6 s. If they took 9 s, each call has an overhead of 1 s.

    Eight calls of 2 s take 16 s. Of a budget of 8 x 2.4 s, a cautious forecast counts on 15.4 s.
    """
    for workers in (1, 2):
        expected = forecast(trial(DIFFERENT, OK, start_s=3.0, calls_s=9.0), SETTINGS, workers)
        overhead = (9.0 - 6.0 / workers) / 3
        assert expected.seconds == pytest.approx(3.0 + 8 * 2.0 / workers + 8 * overhead)
        assert (expected.models, expected.at_risk) == (8, 0)
    for budget, at_risk in ((TimeBudget.EACH, 8), (TimeBudget.AVERAGE, 1)):
        settings = replace(SETTINGS, time_limit_s=2.4, time_budget=budget)
        assert forecast(trial(DIFFERENT, OK), settings, 1).at_risk == at_risk


def test_commands_of_github_are_off_while_the_submission_is_spoken_of(pgdl: Pgdl, folder: Path) -> None:
    """GitHub runs commands that it finds in output, and the message quotes code that may contain any text."""
    (folder / "mine.py").write_text("def complexity(model, dataset:\n    return '##[add-mask]a'\n")
    lines = pgdl("check", "mine.py", "--format", "github").out.splitlines()
    token = lines[0].removeprefix("::stop-commands::")
    end = lines.index(f"::{token}::")
    assert [line for line in lines[1:end] if line.startswith("::")] == []
    assert any("INVALID_SUBMISSION" in line for line in lines[1:end])
    assert all(line.startswith("::error file=mine.py") for line in lines[end + 1 :])
    assert len(lines) > end + 1


PRINTED = "".join(f"line {number}\n" for number in range(100))
GOOD = CallResult(Outcome.OK, 1.5, output_tail=PRINTED)
BAD = CallResult(Outcome.EXCEPTION, message="ValueError: \x1b[2Jno", output_tail=f"{PRINTED}\x1b]0;t\x07last")


def outputs(capsys: pytest.CaptureFixture[str], *results: CallResult) -> list[str]:
    """Return the lines below the table of calls."""
    print_outputs(report(results), wide_console())
    return capsys.readouterr().out.splitlines()


def test_a_row_per_call_and_the_first_call_alone_tells_its_last_lines(capsys: pytest.CaptureFixture[str]) -> None:
    table = CallTable([make_task(3)], (), wide_console())
    for done in report([replace(GOOD, peak_memory_bytes=300 * 1024**2), GOOD, BAD]).shown:
        table.add(done)
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [row[:2] for row in rows] == [["task", "model"], *(["toy", f"model_{n}"] for n in range(3))]
    assert [row[3] for row in rows] == ["outcome", "OK", "OK", "EXCEPTION"]
    assert (rows[0][-1], rows[1][-1]) == ("MiB", "300")
    earlier = "  | ... earlier lines (at most 16,000 characters are kept): pgdl check --format json"
    lines = [f"  | line {n}" for n in range(100 - LINES, 100)]
    assert outputs(capsys, GOOD, GOOD, GOOD) == ["", "toy/model_0: printed", earlier, *lines]
    assert outputs(capsys, CallResult(Outcome.OK, 1.0)) == [], "a silent call leaves the table alone"


def test_each_failure_is_told_once_and_controls_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """Frames of libraries do not hide the line of the submission."""
    below = outputs(capsys, GOOD, BAD, BAD)
    assert below.count("toy/model_1: EXCEPTION: ValueError: ?[2Jno") == 1
    assert below.count("  | ?]0;t?last") == 1
    assert all(line.isprintable() for line in below)
    frame = '  File "/venv/site-packages/keras/a.py", line 1 in f'
    own = '  File "/job/submission/complexity.py", line 4'
    late = CallResult(Outcome.TIMEOUT, message="exceeded 8 s", output_tail="\n".join(["Stack:", *[frame] * 50, own]))
    assert outputs(capsys, late)[2:] == ["  | Stack:", "  |   ... 50 frames of libraries", f"  | {own}"]


def test_the_spinner_waits_for_no_slow_import(monkeypatch: pytest.MonkeyPatch) -> None:
    console = SafeConsole(force_terminal=True, no_color=True, width=80, markup=False, file=io.StringIO())
    monkeypatch.setattr("harness.tables.wide_console", lambda **_: console)
    monkeypatch.setitem(sys.modules, "harness.api.checks", None)  # its import fails
    with pytest.raises(ModuleNotFoundError):
        command.main(["mine.py"], standalone_mode=False)
    assert "reading mine.py" in console.file.getvalue()  # type: ignore[attr-defined]
