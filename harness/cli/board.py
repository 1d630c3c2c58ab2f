"""`pgdl board`: the leaderboard."""

from pathlib import Path

import click

from harness.cli import options
from harness.errors import UserError

FILES = ("leaderboard.md", "leaderboard.csv", "leaderboard.json")


@click.command("board")
@options.tasks
@options.task
@options.results
@options.withhold
@options.everything
@click.option(
    "--format", "form", type=click.Choice(["table", "markdown", "csv", "json"]), default="table", show_default=True,
    help="What to print.",
)  # fmt: skip
@options.output
def command(
    tasks_dir: Path,
    task_names: tuple[str, ...],
    results: str,
    withhold: str,
    everything: bool,
    form: str,
    output: Path | None,
) -> None:
    """Print the leaderboard of all recorded submissions; with --output write it to leaderboard.md, .csv and .json too.

    Needs the reference data of the tasks. A record counts only for the very models and data that the tasks hold now.
    Of a submission's versions the one is shown that was last asked for; a row's calls share one seed and the same
    limits. The rule that makes the score is printed with it. Scores on hidden tasks are rounded, and rank as they are
    printed.
    """
    from harness.board.formats import to_csv, to_json, to_markdown
    from harness.board.leaderboard import build_board
    from harness.cli.boards import collect_records, read_competition, run_command
    from harness.cli.scores import print_board
    from harness.execution.withhold import Withhold
    from harness.records import Records

    competition = read_competition(tasks_dir, task_names)
    with Records(results, must_exist=True) as records:
        collected = collect_records(records, competition, everything=everything)
    withheld = competition.withheld(Withhold(withhold))
    board = build_board(
        collected, competition.references, withheld, competition.notes(of_records=True),
        lambda calls: run_command(calls, tasks_dir, results),
    )  # fmt: skip
    texts = {"markdown": to_markdown(board), "csv": to_csv(board), "json": to_json(board)}
    if form == "table":
        print_board(board)
    else:
        click.echo(texts[form], nl=False)
    if output is not None:
        try:
            output.mkdir(parents=True, exist_ok=True)
            for name, text in zip(FILES, texts.values(), strict=True):
                (output / name).write_text(text)
        except OSError as error:
            raise UserError(f"cannot be written: {error.strerror}", file=output) from error
        click.echo(f"Written: {', '.join(str(output / name) for name in FILES)}", err=True)
