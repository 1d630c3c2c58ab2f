"""`pgdl score`: scores of recorded runs, or of the competition's own `.predict` files."""

import json
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from harness.cli import completion, options
from harness.errors import UserError

if TYPE_CHECKING:
    from harness.board.stability import OwnRandomness
    from harness.cli.boards import Competition
    from harness.format.reference import Reference
    from scoring import SubmissionScore


class Scored(NamedTuple):
    """One submission's score."""

    name: str
    score: "SubmissionScore"
    own_randomness: "OwnRandomness | None" = None  #: None without repetitions


@click.command("score")
@click.argument("submissions", nargs=-1, metavar="[SUBMISSION]...", shell_complete=completion.submissions)
@options.tasks
@options.task
@options.results
@options.withhold
@options.everything
@click.option(
    "--reference", type=click.Path(path_type=Path), metavar="DIR",
    help="Reference data: DIR/TASK/model_configs.json. Default: that of --tasks.",
)  # fmt: skip
@click.option(
    "--predictions", type=click.Path(path_type=Path), metavar="DIR",
    help="Score the files DIR/TASK.predict instead of recorded runs.",
)  # fmt: skip
@options.table_or_json
def command(
    submissions: tuple[str, ...],
    tasks_dir: Path,
    task_names: tuple[str, ...],
    results: str,
    withhold: str,
    everything: bool,
    reference: Path | None,
    predictions: Path | None,
    form: str,
) -> int:
    """Score recorded submissions (all, or those named), or a directory of `.predict` files.

    SUBMISSION is an argument of pgdl run, for the files in their current version, or the name of a recorded
    submission, for its most recently requested version. The score is the competition's own number, printed along with
    the form in its paper, Kendall's rank correlation and the granulated Kendall coefficient. Scores on hidden tasks
    are rounded. Exit code 1 if a task has no score.

    Example: pgdl score --reference reference_data --predictions my_predictions
    """
    from harness.board.rounding import rounded
    from harness.cli.boards import read_competition
    from harness.task.hidden import Withhold

    if predictions is not None and submissions:
        raise UserError("--predictions scores files: it cannot be combined with SUBMISSION")
    competition = read_competition(tasks_dir, Withhold(withhold), task_names, reference)
    withheld = competition.withheld
    remarks = competition.notes(of_records=predictions is None)
    if predictions is not None:
        scores = [Scored(predictions.resolve().name, _score_predictions(predictions, competition.references))]
    else:
        scores, more = _score_records(submissions, tasks_dir, results, competition, withheld, everything=everything)
        remarks = [*remarks, *more]
    _show([one._replace(score=rounded(one.score, withheld)) for one in scores], remarks, withheld, form)
    return 0 if all(one.score.complete for one in scores) else 1


def _score_predictions(directory: Path, references: "Mapping[str, Reference]") -> "SubmissionScore":
    from harness.board.predictions import read_predictions
    from scoring import TaskCalls, score_submission

    values = read_predictions(directory, references)
    tasks = {name: TaskCalls(known.grid, known.gaps, values[name]) for name, known in references.items()}
    return score_submission(tasks)


def _score_records(
    arguments: Sequence[str],
    tasks_dir: Path,
    results: str,
    competition: "Competition",
    withheld: Collection[str],
    *,
    everything: bool,
) -> tuple[list[Scored], list[str]]:
    """Return the scores of the submissions that the arguments name, or of all, and remarks on them."""
    from harness.board import remarks, repetitions
    from harness.board.leaderboard import score_calls
    from harness.board.stability import own_randomness
    from harness.cli.boards import choose, collect_records
    from harness.cli.commands import run_command
    from harness.records import Records

    with Records(results, must_exist=True) as records:
        collected = collect_records(records, competition, everything=everything)
        if arguments:
            collected = choose(collected, arguments, records.name)
        if not collected.shown:
            raise UserError("no records of these tasks", file=records.name, remedy="run `pgdl run SUBMISSION` first")
    labels = remarks.settings_labels(collected.shown)
    scores = []
    for calls, label in zip(collected.shown, labels, strict=True):
        score = score_calls(calls, competition.references)
        own = own_randomness(calls, score, competition.references, withheld)
        differs = ", ".join(filter(None, (label, "" if calls.sandboxed else "not sandboxed")))
        scores.append(Scored(f"{calls.submission} ({differs})" if differs else calls.submission, score, own))
    command = partial(run_command, tasks=tasks_dir, results=results)
    lines = remarks.of_records(collected, competition.references, command)
    return scores, [*lines, *repetitions.remarks_on(collected.shown, withheld)]


def _show(scores: Sequence[Scored], remarks: Sequence[str], withheld: Collection[str], form: str) -> None:
    if form == "table":
        from harness.cli.scores import print_score

        for name, score, own in scores:
            print_score(name, score, withheld, own)
        for line in remarks:
            click.secho(line, dim=True)
        return
    from harness.board.scores import score_object
    from harness.board.stability import own_randomness_object

    rounded = {"rounded": sorted(withheld)} if withheld else {}
    objects = [
        {"submission": name} | rounded | score_object(score)
        | ({"own_randomness": own_randomness_object(own)} if own else {})
        for name, score, own in scores
    ]  # fmt: skip
    content = objects[0] if len(objects) == 1 else {"submissions": objects}
    click.echo(json.dumps(content | {"remarks": list(remarks)}, indent=1, allow_nan=False))
