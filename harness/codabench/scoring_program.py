"""The scoring program: scores and the report of a submission, from what the ingestion program wrote."""

import html
import json
from dataclasses import dataclass
from pathlib import Path

from harness.api import report
from harness.codabench.columns import scores_of
from harness.codabench.results import RECORDS, Result, read_result, require_digests, require_phase
from harness.codabench.seal import read_key
from harness.codabench.settings import KEY, Settings
from harness.errors import UserError, writing
from harness.records import Records
from harness.site import write_report

#: What the platform reads, and shows in a frame.
SCORES, REPORT = "scores.json", "detailed_results.html"

_FAILED = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><title>No score</title>
<body style="font-family: sans-serif; margin: 1em"><h1>No score</h1><p>{}</p></body></html>
"""


@dataclass(frozen=True)
class Places:
    """The directories that the platform mounts."""

    program: Path
    reference: Path
    result: Path
    output: Path


@dataclass(frozen=True)
class Scored:
    """The scores by the keys of the leaderboard, and what a reader is told of them."""

    scores: dict[str, float]
    summary: str


def score_result(places: Places) -> Scored:
    """Write the scores and the report.

    Raises `UserError`, which the report says, too, if there is no result that counts. The platform then lists the
    submission as failed, and it is on no leaderboard.
    """
    try:
        return _score(places)
    except UserError as error:
        try:
            (places.output / REPORT).write_bytes(_FAILED.format(html.escape(str(error))).encode())
        except OSError as unwritten:
            raise UserError(f"{error}; {places.output / REPORT} cannot be written: {unwritten.strerror}") from error
        raise


def _score(places: Places) -> Scored:
    settings, key = Settings.read(places.program), read_key(places.program / KEY)
    result = read_result(places.result, key)
    require_phase(result, settings, places.result)
    if result.problem:
        raise UserError(result.problem)
    if not result.recorded:
        raise UserError(result.missing)
    with Records(places.result / RECORDS, read_only=True) as records:
        require_digests(records.newest_of(), settings, places.result / RECORDS)
    found = report(
        tasks_dir=places.reference, task_names=list(settings.tasks), results=places.result / RECORDS,
        withhold=settings.withhold.value,
    )  # fmt: skip
    (row,) = found.board.rows
    (page,) = found.pages
    summary = ". ".join(line.removesuffix(".") for line in (page["summary"], _said_of(result)) if line) + "."
    write_report(page | {"summary": summary}, places.output / REPORT)
    scores = scores_of(row, settings.columns)
    with writing(places.output):
        (places.output / SCORES).write_bytes((json.dumps(scores, indent=1) + "\n").encode())
    return Scored(scores, summary)


def _said_of(result: Result) -> str:
    missing = result.missing
    return missing[:1].upper() + missing[1:]
