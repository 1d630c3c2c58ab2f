"""The report of `pgdl check`, also as JSON, JUnit XML and annotations for GitHub Actions."""

import json
import os
import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree as ET

from harness.api.tally import describe_outcomes
from harness.ci.annotations import annotation, last_frame, path_in
from harness.execution.check import Trial
from harness.execution.forecast import Forecast
from harness.execution.order import FinishedCall
from harness.execution.partial_calls import CallsOnParts, Place, place_of
from harness.execution.plan import PlannedCall
from harness.outcome import Outcome, kind_of_failure
from harness.submission import Submission
from harness.summarized import Summarized
from harness.task.selection import PartOfData

#: Beginning of a line that GitHub would run as a command if it appeared in a log.
_COMMAND = re.compile(r"^(\s*)([:#])(?=[:#])", re.MULTILINE)


@dataclass(frozen=True, repr=False)
class CheckReport(Summarized):
    """The verdict of a check on a submission, and the calls behind it."""

    submission: Submission
    trial: Trial | None = None  #: the calls; None if a flaw, such as a syntax error, was found without a call
    forecast: Forecast | None = None  #: forecast of a full run; None if a call failed or results are withheld
    withheld: Collection[str] = ()  #: names of hidden tasks; only the outcomes of calls on them may be shown

    @property
    def passed(self) -> bool:
        """Whether every call returned a finite number."""
        return self.trial is not None and self.trial.passed

    @property
    def undecided(self) -> bool:
        """Whether there is no verdict: every failed call had only parts of the data, and might succeed with all."""
        if self.trial is None or self.passed:
            return False
        unknown = [one.last.done for one in self.trial.partial.values() if one.is_unknown]
        failed = [one for one in self.trial.done if one.result.outcome is not Outcome.OK]
        return bool(unknown) and all(one in unknown for one in failed)

    @property
    def partial(self) -> list[CallsOnParts]:
        """The calls on parts of the training data, except calls on the tasks `withheld`."""
        partial = self.trial.partial if self.trial else {}
        return [one for (task, _), one in partial.items() if task not in self.withheld]

    @property
    def shown(self) -> list[FinishedCall[PlannedCall]]:
        """The finished calls, except calls on the tasks `withheld`."""
        done = self.trial.done if self.trial else ()
        return [one for one in done if one.call.task.name not in self.withheld]

    @property
    def failed(self) -> list[FinishedCall[PlannedCall]]:
        """The calls in `shown` that returned no finite number."""
        return [one for one in self.shown if one.result.outcome is not Outcome.OK]

    @property
    def failures(self) -> list[FinishedCall[PlannedCall]]:
        """The first call of each distinct failure in `failed`. Failures that differ only in numbers are the same."""
        found: dict[tuple[str, str], FinishedCall[PlannedCall]] = {}
        for one in self.failed:
            found.setdefault(kind_of_failure(one.result.outcome, one.result.message), one)
        return list(found.values())

    @property
    def counts(self) -> dict[str, Counter[str]]:
        """Task in `withheld` -> outcome -> number of models. If only one of two calls on a model failed, it counts."""
        outcomes: dict[Place, Outcome] = {}
        for one in (*self.trial.done, self.trial.again) if self.trial else ():
            if outcomes.get(place := place_of(one.call), Outcome.OK) is Outcome.OK:
                outcomes[place] = one.result.outcome
        return {
            task: Counter(str(outcome) for (of, _), outcome in outcomes.items() if of == task) for task in self.withheld
        }

    @property
    def summary(self) -> list[str]:
        """The verdict with the number of calls by outcome, each distinct failure, the warnings, and the forecast."""
        verdict = "passes" if self.passed else "has no verdict" if self.undecided else "does not pass"
        outcomes = Counter(str(one.result.outcome) for one in self.trial.done) if self.trial else {}
        return [
            f"{self.submission.name} {verdict}: {self.submission.problem or describe_outcomes(outcomes)}",
            *map(describe_failure, self.failures),
            *(f"Warning: {warning}" for warning in self.warnings),
            *([] if self.forecast is None else [str(self.forecast)]),
        ]

    @property
    def warnings(self) -> list[str]:
        """Warnings on a passing submission: constant or unrepeatable values. Empty if any task is withheld."""
        if self.trial is None or not self.passed or self.withheld:
            return []
        found = []
        if len(self.trial.done) > 1 and len({done.result.value for done in self.trial.done}) == 1:
            found.append("the same value for all models tried; such a measure cannot rank them")
        if not self.trial.repeatable:
            values = f"{self.trial.first.result.value!r} and {self.trial.again.result.value!r}"
            found.append(f"not repeatable: the same call gave {values}; draw from the seeded generators")
        return found


def to_json(report: CheckReport) -> str:
    """Return the report as JSON text. For the tasks in `withheld`, the text only counts the models by outcome."""
    forecast = None
    if (expected := report.forecast) is not None:
        forecast = {
            "models": expected.models, "seconds": expected.seconds, "at_least_seconds": expected.least_s,
            "at_risk": expected.at_risk,
        }  # fmt: skip
    content = {
        "submission": report.submission.name,
        "version": report.submission.digest,
        "passed": report.passed,
        "undecided": report.undecided,
        "problem": report.submission.problem,
        "warnings": report.warnings,
        "calls": [_call(done) for done in report.shown],
        "withheld": {task: dict(counts) for task, counts in report.counts.items()},
        "forecast": forecast,
    }
    return json.dumps(content, indent=1, allow_nan=False)


def _call(done: FinishedCall[PlannedCall]) -> dict[str, Any]:
    result, planned = done.result, done.call
    return {
        "task": planned.task.name,
        "model": planned.model.id,
        "parameters": planned.model.n_parameters,
        "examples": data.n_samples if isinstance(data := planned.task.data, PartOfData) else None,
        "outcome": str(result.outcome),
        "value": result.value,
        "message": result.message,
        "seconds": result.call_wall_s,
        "peak_memory_bytes": result.peak_memory_bytes,
        "output": result.output_tail,
    }


def to_junit(report: CheckReport) -> str:
    """Return JUnit XML with a test case for each call in `shown` and for each task in `withheld`."""
    name = report.submission.name
    suite = ET.Element("testsuite", name=f"pgdl check {name}")
    if report.submission.problem is not None:
        case = ET.SubElement(suite, "testcase", classname=name, name="submission")
        ET.SubElement(case, "failure", type="INVALID_SUBMISSION", message=report.submission.problem)
    for done in report.shown:
        result, where = done.result, f"{done.call.task.name}/{done.call.model.id}"
        case = ET.SubElement(suite, "testcase", classname=name, name=where, time=f"{result.call_wall_s:.3f}")
        if result.outcome is not Outcome.OK:
            ET.SubElement(case, "failure", type=str(result.outcome), message=result.message)
        if result.output_tail:
            ET.SubElement(case, "system-out").text = result.output_tail
    for task, counts in report.counts.items():
        case = ET.SubElement(suite, "testcase", classname=name, name=task)
        if set(counts) - {Outcome.OK}:
            ET.SubElement(case, "failure", type="withheld", message=describe_outcomes(counts))
    suite.set("tests", str(len(suite)))
    suite.set("failures", str(len(suite.findall("testcase/failure"))))
    ET.indent(suite)
    text = ET.tostring(suite, encoding="unicode", xml_declaration=True)
    return _COMMAND.sub(lambda found: f"{found[1]}&#{ord(found[2])};", text)


def to_github(report: CheckReport) -> str:
    """Return GitHub annotations, one per line: warnings, each distinct failure, counts of failures on hidden tasks."""
    file = os.path.relpath(report.submission.source)
    lines = [annotation("warning", warning, file) for warning in report.warnings]
    if report.submission.problem is not None:
        lines.append(annotation("error", report.submission.problem, file))
    for done in report.failures:
        lines.append(annotate_failure(file, describe_failure(done), done.result.output_tail))
    for task, counts in report.counts.items():
        if counts.total() > counts[Outcome.OK]:
            lines.append(annotation("error", describe_counts(task, counts), file))
    return "\n".join(lines)


def describe_counts(task: str, counts: Counter[str]) -> str:
    """Return a text such as `2 of 7 calls on task1 failed`; `counts` is outcome -> number of calls."""
    return f"{counts.total() - counts[Outcome.OK]} of {counts.total()} calls on {task} failed"


def describe_failure(done: FinishedCall[PlannedCall]) -> str:
    """Return a line with outcome, task, model and message of a failed call."""
    return f"{done.result.outcome} on {done.call.where}: {done.result.message}"


def annotate_failure(source: str, text: str, output: str) -> str:
    """Return a GitHub annotation with the error `text`, at `source`, the path of the submission.

    If the call's `output` has a traceback, the annotation is at the submission's file and line that raised the error.
    """
    file, line = last_frame(output) or ("", None)
    return annotation("error", text, path_in(source, file) if file else source, line)
