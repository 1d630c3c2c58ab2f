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
@options.html
def command(
    tasks_dir: Path,
    task_names: tuple[str, ...],
    results: str,
    withhold: str,
    everything: bool,
    form: str,
    output: Path | None,
    html: Path | None,
) -> None:
    """Print the leaderboard of all recorded submissions; with --output also write it in every file format, with --html
    as a static site: the board, a page per submission and task, and the records behind it for `pgdl verify`.

    Needs the reference data of the tasks. A record counts only if the task still has the same model and data. The
    most recently requested version of each submission is shown; all calls of a row share the seed and the limits. The
    scoring rule is printed with the scores. Scores on hidden tasks are rounded, and ranked by their rounded values.
    """
    from harness.board.leaderboard import build_board
    from harness.cli.boards import collect_records, failed_outputs, read_competition
    from harness.cli.commands import run_command
    from harness.records import Records
    from harness.task.hidden import Withhold

    competition = read_competition(tasks_dir, Withhold(withhold), task_names)
    with Records(results, must_exist=True) as records:
        collected = collect_records(records, competition, everything=everything)
        outputs = {} if html is None else failed_outputs(records, collected)
    board = build_board(
        collected, competition.references, competition.withheld, competition.notes(of_records=True),
        competition.held_out, lambda calls: run_command(calls, tasks_dir, results),
    )  # fmt: skip
    formats.show(board, form)
    if html is not None:
        from harness.site import gather, write_site

        head = write_site(gather(collected.shown, board, competition.references, competition.n_test, outputs), html)
        click.echo(f"Written: {html / 'index.html'} (digest of all records: {head})", err=True)
    if output is not None:
        click.echo(f"Written: {', '.join(map(str, formats.write(board, output / 'leaderboard')))}", err=True)
