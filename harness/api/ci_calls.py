"""Finds the failures that `pgdl ci` reports: failed checks of submissions, and failed calls."""

from collections import Counter
from collections.abc import Mapping, Sequence

from harness.api.calls import Run
from harness.api.check_report import CheckReport, annotate_failure, describe_counts, describe_failure, to_github
from harness.api.checks import MODELS
from harness.ci.annotations import SHOWN, annotation, last_traceback
from harness.ci.reading import Failures
from harness.execution.check import try_submission
from harness.execution.plan import PlannedCall
from harness.format.reference import Reference
from harness.outcome import Outcome, kind_of_failure
from harness.records import Record, Records
from harness.submission import Submission


def check_submission(submission: Submission, run: Run) -> tuple[str, Failures] | None:
    """Check a submission as `pgdl check` does. `run` comes from `begin_run`, whose context must still be open.

    Return None if the submission passes, otherwise the reason why it does not pass, and its failures.
    """
    trial = try_submission(submission, run.tasks, run.settings, run.executor, MODELS)
    if trial.passed and trial.repeatable:
        return None
    report = CheckReport(submission, trial, withheld=run.withheld)
    if trial.passed:
        reason = "a repeated call gave another value"
    elif report.failed:
        reason = describe_failure(report.failed[0])
    else:
        reason = "; ".join(describe_counts(task, counts) for task, counts in report.counts.items())
    annotations = to_github(report).splitlines() or [annotation("error", reason, submission.source)]
    outputs = [done.result.output_tail for done in report.failed]
    return f"does not pass pgdl check: {reason}", Failures(annotations, _first_traceback(outputs))


def records_of(calls: Sequence[PlannedCall], records: Records) -> list[tuple[PlannedCall, Record]]:
    """Return the calls that have a record, each with its newest record."""
    rows = {row.key: row for row in records.newest([call.key for call in calls])}
    return [(call, rows[call.key]) for call in calls if call.key in rows]


def find_failures(records: Records, submission: Submission, made: Sequence[tuple[PlannedCall, Record]]) -> Failures:
    """Return at most `SHOWN` distinct failures of a submission. Failures that differ only in numbers are the same.

    `made` holds all calls of a run with their records. Calls on hidden tasks are left out: messages of failures could
    reveal facts about the models.
    """
    failures = {
        kind_of_failure(row.outcome, row.message): row
        for call, row in made
        if call.submission.name == submission.name and row.outcome != Outcome.OK and not call.withheld
    }
    shown = list(failures.values())[:SHOWN]
    outputs = records.output_tails([row.key for row in shown])
    annotations = [
        annotate_failure(submission.source, f"{row.outcome} on {row.task}/{row.model}: {row.message}", outputs[row.key])
        for row in shown
    ]
    return Failures(annotations, _first_traceback([outputs[row.key] for row in shown]))


def _first_traceback(outputs: Sequence[str]) -> str:
    return next(filter(None, map(last_traceback, outputs)), "")


def without_reference(
    made: Sequence[tuple[PlannedCall, Record]], references: Mapping[str, Reference]
) -> dict[str, Counter[str]]:
    """Count the calls on models without reference data, which boards omit: submission -> outcome -> number."""
    outcomes: dict[str, Counter[str]] = {}
    for _, row in made:
        if row.task not in references or row.model not in references[row.task].gaps:
            outcomes.setdefault(row.submission, Counter())[row.outcome] += 1
    return outcomes
