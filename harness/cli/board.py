"""`pgdl board`: the leaderboard."""

from pathlib import Path

import click

from harness.cli import formats, options


@click.command("board")
@options.tasks
@options.task
@options.results
@options.withhold
@options.everything
@formats.option
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
    """Print the leaderboard of all recorded submissions; with --output write it in every format that has files, too.

    Needs the reference data of the tasks. A record counts only for the very models and data that the tasks hold now.
    Of a submission's versions the one is shown that was last asked for; a row's calls share one seed and the same
    limits. The rule that makes the score is printed with it. Scores on hidden tasks are rounded, and rank as they are
    printed.
    """
    from harness.board.leaderboard import build_board
    from harness.cli.boards import collect_records, read_competition, run_command
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
    formats.show(board, form)
    if output is not None:
        click.echo(f"Written: {', '.join(map(str, formats.write(board, output / 'leaderboard')))}", err=True)
