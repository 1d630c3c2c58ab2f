"""`pgdl score`: prints scores of recorded submissions, or of the competition's own `.predict` files."""

from typing import Any

import click

import pgdl
from harness.cli import as_json, completion, options


@click.command("score")
@click.argument("submissions", nargs=-1, metavar="[SUBMISSION]...", shell_complete=completion.submissions)
@options.tasks
@options.task
@options.results
@options.withhold
@options.everything
@click.option(
    "--reference", type=options.PATH, metavar="DIR",
    help="Reference data: DIR/TASK/model_configs.json. Default: the directory of --tasks.",
)  # fmt: skip
@click.option(
    "--predictions", type=options.PATH, metavar="DIR",
    help="Score the files DIR/TASK.predict instead of recorded runs.",
)  # fmt: skip
@as_json.option
def command(form: str, **asked: Any) -> int:
    """Score each SUBMISSION (default: all recorded submissions), or a directory of `.predict` files.

    SUBMISSION is a path or a measure as for pgdl run, in its current version, or the name of a recorded submission, in
    its most recently requested version. The official score is the number that the competition's own program computes.
    The printed score follows the formula that is printed in the competition's paper. Kendall's rank correlation and the
    granulated Kendall coefficient are shown, too. Scores on hidden tasks are rounded. Exit code 1 if a call failed or
    is missing, or if no final score exists, for instance because no task has a full grid of three hyperparameters.

    Example: pgdl score --reference reference_data --predictions my_predictions
    """
    found = pgdl.score(**asked)
    if form == as_json.JSON:
        as_json.show(found.content)
    else:
        from harness.cli.scores import print_scores

        print_scores(found)
    return 0 if found.complete else 1
