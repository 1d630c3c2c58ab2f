"""What `pgdl ci` says of calls: the verdict of a check, and annotations of failures."""

from collections.abc import Collection, Sequence

from harness.ci.annotations import SHOWN, annotation, last_frame, path_in
from harness.cli.calls import Run
from harness.cli.check_report import Report, to_github
from harness.execution.check import Watch, try_submission
from harness.outcome import Outcome
from harness.records import Evaluation, Records
from harness.submission import Submission

#: Models of each task that are tried, as by `pgdl check`.
MODELS = 3


def check_submission(submission: Submission, run: Run) -> tuple[str, Sequence[str]] | None:
    """Try a submission as `pgdl check` does; returns the reason and annotations if it does not pass.

    The executor's context has been entered.
    """
    watch = Watch(lambda _: None, lambda _: None)
    trial = try_submission(submission, run.tasks, run.setup.settings, run.setup.executor, MODELS, watch)
    if trial.passed and trial.repeatable:
        return None
    report = Report(submission, trial, withheld=run.withheld)
    reason = "a repeated call gave another value" if trial.passed else _failure(report)
    annotations = to_github(report).splitlines() or [annotation("error", reason, submission.source)]
    return f"does not pass pgdl check: {reason}", annotations


def _failure(report: Report) -> str:
    failed = [done for done in report.shown if done.result.outcome is not Outcome.OK]
    if not failed:
        return "; ".join(
            f"{counts.total() - counts[Outcome.OK]} of {counts.total()} calls on {task} failed"
            for task, counts in report.counts.items()
        )
    first = failed[0]
    where = f"{first.planned.task.name}/{first.planned.model.id}"
    return f"{first.result.outcome} on {where}: {first.result.message}"


def annotate_failures(records: Records, submission: Submission, withheld: Collection[str]) -> list[str]:
    """Return an annotation for each different failure of a submission's recorded calls, on its line if it is known.

    Failures on the tasks `withheld` would reveal something of their models.
    """
    rows = records.newest_of(
        Evaluation.submission == submission.name, Evaluation.submission_digest == submission.digest,
        Evaluation.repeat == 0, Evaluation.outcome != Outcome.OK, Evaluation.task.not_in(withheld), long=True,
    )  # fmt: skip
    failures = {(row.outcome, row.message): row for row in rows}
    found = []
    for row in list(failures.values())[:SHOWN]:
        file, line = last_frame(row.output_tail) or ("", None)
        place = path_in(submission.source, file) if file else submission.source
        found.append(annotation("error", f"{row.outcome} on {row.task}/{row.model}: {row.message}", place, line))
    return found
