"""`pgdl report`: explains why the score of a submission is not higher."""

from pathlib import Path
from typing import Any

import click

import pgdl
from harness.cli import as_json, completion, options
from harness.cli.outputs import prepare_directory
from harness.printing import say


@click.command("report")
@click.argument("submissions", nargs=-1, metavar="[SUBMISSION]...", shell_complete=completion.submissions)
@options.tasks
@options.task
@options.results
@options.withhold
@options.html("a page with plots for each submission to this directory.")
@as_json.option
def command(html: Path | None, form: str, **asked: Any) -> None:
    """Explain why the score of each SUBMISSION (default: of all recorded submissions) is not higher, and what to try
    next.

    Needs the records of a complete run. The interval, the rank and the adjusted p-value refer to all recorded
    submissions. With --html, a single file with all plots is written for each SUBMISSION: PATH/NAME.html.

    Example: pgdl report my_measure.py --html reports
    """
    prepare_directory(html)
    found = pgdl.report(**asked)
    written = [] if html is None else found.write(html)
    if form == as_json.JSON:
        as_json.show({"submissions": found.content, "remarks": found.remarks})
    else:
        for page in found.pages:
            _print(page)
        for line in found.remarks:
            say(line, dim=True)
    for file in written:
        say(f"Written: {file}", err=True)


def _print(page: dict[str, Any]) -> None:
    from harness.tables import print_lines, print_table, wide_console

    console = wide_console()
    console.print(page["label"], style="bold")
    console.print(page["summary"])
    rows = [[part["name"], part["text"], part["why"]] for part in page["parts"]]
    print_table(console, ("task", "score", "why"), rows, left=("task",), wrap=("why",))
    if page["advice"]:
        console.print("What to try next:")
        print_lines(console, [f"- {line}" for line in page["advice"]], style="none")
    console.print()
