"""The scoring program: it computes a submission's scores and report from the output of the ingestion program."""

import html
import json
import os
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from harness.codabench.columns import scores_of, verdict_of
from harness.codabench.results import RECORDS, read_result
from harness.codabench.settings import PhaseSettings
from harness.errors import UserError, writing
from harness.outcome import Outcome
from harness.records import Records
from harness.site import write_report
from pgdl import report

SCORES, REPORT = "scores.json", "detailed_results.html"  #: files with the scores, and with the report

_FAILED = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><title>No score</title>
<body style="font-family: sans-serif; margin: 1em"><h1>No score</h1><p>{}</p></body></html>
"""


def score_result(program: Path, reference: Path, result: Path, output: Path) -> str:
    """Write the scores and the report of a submission to `output`, and return a summary in words.

    `program` holds the settings of the phase, `reference` the reference data, `result` the output of the ingestion
    program. If the result is invalid or without calls, write the reason into the report, and raise `UserError`: the
    platform then lists the submission as failed.
    """
    try:
        return _score(program, reference, result, output)
    except UserError as error:
        try:
            (output / REPORT).write_bytes(_FAILED.format(html.escape(str(error))).encode())
        except OSError as unwritten:
            raise UserError(f"{error}; {output / REPORT} cannot be written: {unwritten.strerror}") from error
        raise


def _score(program: Path, reference: Path, place: Path, output: Path) -> str:
    settings, result = PhaseSettings.read(program), read_result(place)
    if result.problem:
        raise UserError(result.problem)
    rows, file = [], place / RECORDS
    if os.path.lexists(file):
        with Records(file, read_only=True) as records:
            rows = list(islice(records.newest_of(), settings.planned + 1))
    settings.require_calls(rows, file)
    made = sum(row.outcome != Outcome.INFRA_ERROR for row in rows)
    missing = f"{result.ended}: {made} of {settings.planned} calls were made, and the others have no value"
    if not made:
        raise UserError(missing)
    found = report(tasks_dir=reference, task_names=list(settings.tasks), results=file)
    if len(found.board.rows) != 1:  # a forged result: nobody has called the others
        raise UserError("requests of several submissions", file=file)
    (row,), (page,) = found.board.rows, found.pages
    said = [*_verdict(settings, rows), page["summary"], *result.notes, *([missing] if made < settings.planned else [])]
    summary = ". ".join(f"{line[0].upper()}{line[1:]}".removesuffix(".") for line in filter(None, said)) + "."
    write_report(page | {"summary": summary}, output / REPORT)
    scores = verdict_of(row) if settings.is_check else scores_of(row, settings.columns)
    with writing(output):
        (output / SCORES).write_bytes((json.dumps(scores, indent=1) + "\n").encode())
    return summary


def _verdict(settings: PhaseSettings, rows: Sequence[Any]) -> Iterator[str]:
    if settings.is_check:
        longest_s, limit_s = max(row.call_wall_s for row in rows), settings.time_limit_s
        yield f"Received. The scores of the phase {settings.name} are made by the organiser, on other tasks"
        yield f"Checked on {', '.join(settings.tasks)}: the longest call took {longest_s:.1f} of {limit_s:g} s"
