"""`pgdl report`: everything that is known about a submission."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli import completion, options
from harness.errors import UserError

if TYPE_CHECKING:
    from harness.cli.boards import Competition
    from harness.site import Site


@click.command("report")
@click.argument("submissions", nargs=-1, metavar="[SUBMISSION]...", shell_complete=completion.submissions)
@options.tasks
@options.task
@options.results
@options.withhold
@options.html
def command(
    submissions: tuple[str, ...],
    tasks_dir: Path,
    task_names: tuple[str, ...],
    results: str,
    withhold: str,
    html: Path | None,
) -> None:
    """Explain the score of each SUBMISSION (default: of all recorded ones): why it is not higher, and what to try next.

    With --html, DIR/NAME.html is written for each: a single file with plots, which needs no other.

    Needs the records of a complete run. The interval, the rank and the adjusted p-value are those among all recorded
    submissions.

    Example: pgdl report my_measure.py --html reports
    """
    from harness.cli.boards import read_competition
    from harness.task.hidden import Withhold

    competition = read_competition(tasks_dir, Withhold(withhold), task_names)
    site, chosen = _site(submissions, competition, results)
    for number in chosen:
        _print(site, number)
        if html is not None:
            from harness.site import write_report

            file = html / Path(site.pages[number]).name
            write_report(site, number, file)
            click.echo(f"Written: {file}", err=True)


def _site(arguments: tuple[str, ...], competition: "Competition", results: str) -> "tuple[Site, list[int]]":
    """Return the site of all recorded submissions, and the positions of the rows that the arguments name."""
    from harness.board.leaderboard import build_board
    from harness.cli.boards import choose, collect_records, failed_outputs
    from harness.records import Records
    from harness.site import gather, make_site

    with Records(results, must_exist=True) as records:
        collected = collect_records(records, competition)
        if not collected.shown:
            raise UserError("no records of these tasks", file=records.name, remedy="run `pgdl run SUBMISSION` first")
        named = choose(collected, arguments, records.name).shown if arguments else collected.shown
        outputs = failed_outputs(records, collected)
    known = [*collected.shown, *(calls for calls in named if calls not in collected.shown)]
    board = build_board(
        replace(collected, shown=known), competition.references, competition.withheld, held_out=competition.held_out
    )
    site = make_site(gather(known, board, competition.references, competition.n_test, outputs))
    wanted = {(calls.submission, calls.version, calls.configuration) for calls in named}
    rows = enumerate(site.board.rows)
    return site, [n for n, row in rows if (row.submission, row.version, row.configuration) in wanted]


def _print(site: "Site", number: int) -> None:
    from harness.site.on_submission import submission_page
    from harness.tables import print_lines, print_table, wide_console

    page = submission_page(site.board, number, site.insights[number], site.pages)
    console = wide_console()
    console.print(site.board.rows[number].label, style="bold")
    console.print(page["summary"])
    rows = [[part["name"], part["text"], part["reason"] or part["why"]] for part in page["parts"]]
    print_table(console, ("task", "score", "why"), rows, left=("task",), wrap=("why",))
    if page["advice"]:
        console.print("What to try next:")
        print_lines(console, [f"- {line}" for line in page["advice"]], style="none")
    console.print()
