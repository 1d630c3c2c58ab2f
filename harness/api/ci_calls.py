"""The reports of `pgdl ci` about calls: the verdict of a check, and annotations of failures."""

from collections import Counter
from collections.abc import Mapping, Sequence

from harness.api.calls import Run
from harness.api.check_report import CheckReport, to_github
from harness.api.checks import MODELS
from harness.ci.annotations import SHOWN, annotation, last_frame, last_traceback, path_in
from harness.ci.reading import Failures
from harness.execution.check import try_submission
from harness.execution.plan import PlannedCall
from harness.format.reference import Reference
from harness.outcome import Outcome
from harness.records import Record, Records
from harness.submission import Submission


def check_submission(submission: Submission, run: Run) -> tuple[str, Failures] | None:
    """Try a submission as `pgdl check` does; returns the reason and the failures if it does not pass.

    The executor's context has been entered.
    """
    trial = try_submission(submission, run.tasks, run.settings, run.executor, MODELS)
    if trial.passed and trial.repeatable:
        return None
    report = CheckReport(submission, trial, withheld=run.withheld)
    reason = "a repeated call gave another value" if trial.passed else _failure(report)
    annotations = to_github(report).splitlines() or [annotation("error", reason, submission.source)]
    outputs = [done.result.output_tail for done in report.shown if done.result.outcome is not Outcome.OK]
    return f"does not pass pgdl check: {reason}", Failures(annotations, _first_traceback(outputs))


def _failure(report: CheckReport) -> str:
    failed = [done for done in report.shown if done.result.outcome is not Outcome.OK]
    if not failed:
        return "; ".join(
            f"{counts.total() - counts[Outcome.OK]} of {counts.total()} calls on {task} failed"
            for task, counts in report.counts.items()
        )
    first = failed[0]
    where = f"{first.call.task.name}/{first.call.model.id}"
    return f"{first.result.outcome} on {where}: {first.result.message}"


def records_of(calls: Sequence[PlannedCall], records: Records) -> list[tuple[PlannedCall, Record]]:
    """Return the calls of a job, each with its newest record of these settings and models."""
    rows = {row.key: row for row in records.newest([call.key for call in calls])}
    return [(call, rows[call.key]) for call in calls if call.key in rows]


def find_failures(records: Records, submission: Submission, made: Sequence[tuple[PlannedCall, Record]]) -> Failures:
    """Return an annotation for each different failure among a submission's calls, on its line if it is known.

    Failures on withheld tasks would reveal something of their models.
    """
    failures = {
        (row.outcome, row.message): row
        for call, row in made
        if call.submission.name == submission.name and row.outcome != Outcome.OK and not call.withheld
    }
    shown = list(failures.values())[:SHOWN]
    outputs, found = records.output_tails([row.key for row in shown]), []
    for row in shown:
        file, line = last_frame(outputs[row.key]) or ("", None)
        place = path_in(submission.source, file) if file else submission.source
        found.append(annotation("error", f"{row.outcome} on {row.task}/{row.model}: {row.message}", place, line))
    return Failures(found, _first_traceback([outputs[row.key] for row in shown]))


def _first_traceback(outputs: Sequence[str]) -> str:
    return next(filter(None, map(last_traceback, outputs)), "")


def without_reference(
    made: Sequence[tuple[PlannedCall, Record]], references: Mapping[str, Reference]
) -> dict[str, Counter[str]]:
    """Return the outcomes on models without reference data, which are on no board, by the submission's name."""
    outcomes: dict[str, Counter[str]] = {}
    for _, row in made:
        if row.task not in references or row.model not in references[row.task].gaps:
            outcomes.setdefault(row.submission, Counter())[row.outcome] += 1
    return outcomes
