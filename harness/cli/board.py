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
@click.option(
    "--format", "form", type=click.Choice(["table", "markdown", "csv", "json"]), default="table", show_default=True,
    help="What to print.",
)  # fmt: skip
@options.output
def command(
    tasks_dir: Path, task_names: tuple[str, ...], results: str, withhold: str, form: str, output: Path | None
) -> None:
    """Print the leaderboard of all recorded submissions, and write it to leaderboard.md, .csv and .json.

    Needs the reference data of the tasks. The rule that makes the score is printed with it. Scores on hidden
    tasks are rounded, and rank as they are printed.
    """
    from harness.board.collect import collect
    from harness.board.formats import to_csv, to_json, to_markdown
    from harness.board.leaderboard import build_board
    from harness.board.references import read_references, undefined_scores, withheld_tasks
    from harness.cli.tables import print_board
    from harness.execution.withhold import Withhold
    from harness.records import Records

    references = read_references(tasks_dir, task_names)
    withheld = withheld_tasks(tasks_dir, task_names, Withhold(withhold))
    with Records(results, must_exist=True) as records, undefined_scores(tasks_dir):
        rows = build_board(collect(records.newest(), references), references, withheld)
    tasks = list(references)
    texts = {"markdown": to_markdown(rows, tasks), "csv": to_csv(rows, tasks), "json": to_json(rows)}
    if form == "table":
        print_board(rows, tasks)
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
