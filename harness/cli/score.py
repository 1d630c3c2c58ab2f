"""`pgdl score`: scores of recorded runs, or of the competition's own `.predict` files."""

import json
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli import options
from harness.errors import UserError

if TYPE_CHECKING:
    from harness.task.reference import Reference
    from scoring import SubmissionScore


@click.command("score")
@click.argument("submissions", nargs=-1, metavar="[SUBMISSION]...")
@options.tasks
@options.task
@options.results
@options.withhold
@click.option(
    "--reference", type=click.Path(path_type=Path), metavar="DIR",
    help="Reference data: DIR/TASK/model_configs.json. Default: that of --tasks.",
)  # fmt: skip
@click.option(
    "--predictions", type=click.Path(path_type=Path), metavar="DIR",
    help="Score the files DIR/TASK.predict instead of recorded runs.",
)  # fmt: skip
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="What to print.",
)
def command(
    submissions: tuple[str, ...],
    tasks_dir: Path,
    task_names: tuple[str, ...],
    results: str,
    withhold: str,
    reference: Path | None,
    predictions: Path | None,
    form: str,
) -> int:
    """Score recorded submissions (all, or those named), or a directory of `.predict` files.

    The score is the competition's own number; the printed form of its paper, Kendall's rank correlation
    and the granulated Kendall coefficient stand beside it. Those of hidden tasks are rounded. Exit code 1 if a
    task has no score.

    Example: pgdl score --reference reference_data --predictions my_predictions
    """
    from harness.board.references import read_references, undefined_scores, withheld_tasks
    from harness.board.rounding import rounded
    from harness.execution.withhold import Withhold

    if predictions is not None and submissions:
        raise UserError("--predictions scores files: name no SUBMISSION with it")
    references = read_references(reference or tasks_dir, task_names)
    withheld = withheld_tasks(reference or tasks_dir, task_names, Withhold(withhold)) & references.keys()
    with undefined_scores(reference or tasks_dir):
        if predictions is not None:
            scores = {predictions.resolve().name: _score_predictions(predictions, references)}
        else:
            scores = _score_records(submissions, results, references)
    _show({name: rounded(score, withheld) for name, score in scores.items()}, withheld, form)
    return 0 if all(score.complete for score in scores.values()) else 1


def _score_predictions(directory: Path, references: "dict[str, Reference]") -> "SubmissionScore":
    from harness.board.predictions import read_predictions
    from scoring import TaskCalls, score_submission

    values = read_predictions(directory, references)
    tasks = {name: TaskCalls(known.grid, known.gaps, values[name]) for name, known in references.items()}
    return score_submission(tasks)


def _score_records(
    names: tuple[str, ...], results: str, references: "dict[str, Reference]"
) -> "dict[str, SubmissionScore]":
    from harness.board.collect import collect
    from harness.board.leaderboard import score_calls
    from harness.records import Records

    with Records(results, must_exist=True) as records:
        collected = {calls.submission: calls for calls in collect(records.newest(), references)}
        for name in names:
            if name not in collected:
                known = ", ".join(collected) or "none"
                raise UserError(f"no records of {name!r}", file=records.name, remedy=f"recorded here: {known}")
        if not collected:
            raise UserError("no records of these tasks", file=records.name, remedy="run `pgdl run SUBMISSION` first")
    return {name: score_calls(collected[name], references) for name in names or collected}


def _show(scores: "dict[str, SubmissionScore]", withheld: Collection[str], form: str) -> None:
    if form == "table":
        from harness.cli.tables import print_score

        for name, score in scores.items():
            print_score(name, score, withheld)
        return
    from harness.board.formats import score_object

    rounded = {"rounded": sorted(withheld)} if withheld else {}
    objects = [{"submission": name} | rounded | score_object(score) for name, score in scores.items()]
    content = objects[0] if len(objects) == 1 else {"submissions": objects}
    click.echo(json.dumps(content, indent=1, allow_nan=False))
