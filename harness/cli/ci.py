"""`pgdl ci`: evaluates the submissions that a change of a repository touches."""

from pathlib import Path
from typing import Any

import click

from harness.ci.rules import AT_MOST
from harness.cli import as_json, completion, options
from harness.cli.outputs import prepare_directory
from harness.printing import put, say


@click.command("ci")
@click.argument("measures", nargs=-1, metavar="[MEASURE]...", shell_complete=completion.measures)
@click.option("--head", required=True, metavar="REV", help="Commit with the change.")
@click.option(
    "--base", metavar="REV", help="Commit to merge the change into. Without it, every submission is evaluated."
)
@click.option(
    "--repository", type=options.PATH, default=".", show_default=True, metavar="DIR",
    help="Git repository with both commits; its working tree is not read.",
)  # fmt: skip
@click.option(
    "--submissions", "folder", default="submissions", show_default=True, metavar="PATH",
    help="Folder of the submissions in the repository.",
)  # fmt: skip
@options.tasks
@options.task
@options.results
@click.option(
    "--add-records", "added", multiple=True, callback=options.parse_address, metavar="FILE",
    help="Results file of another job whose records are added first; may be repeated. No record is replaced.",
)  # fmt: skip
@options.output("leaderboard, site, comment and report to this directory.")
@click.option(
    "--require-check", is_flag=True,
    help="Rule: a submission passes pgdl check, is repeatable, and all its calls return a number in time. A submission "
    "that fails the check is not run in full.",
)  # fmt: skip
@click.option(
    "--min-score", type=options.NumberRange(0, 100), metavar="X", help="Rule: a submission scores at least X, of 100."
)
@click.option(
    "--at-most", type=click.IntRange(min=1), default=AT_MOST, show_default=True, metavar="N",
    help="Rule: the change touches at most N submissions; if it touches more, none is evaluated.",
)  # fmt: skip
@click.option("--only-submissions", is_flag=True, help="Rule: the change touches no other files.")
@click.option(
    "--only-new", is_flag=True, help="Rule: the change alters, renames and removes no submission of the base."
)
@click.option(
    "--annotations", type=click.Choice(["auto", "github", "none"]), default="auto", show_default=True,
    help="Print failures as annotations of files; auto: on GitHub.",
)  # fmt: skip
@options.sandboxed_execution
@as_json.option
@options.quiet
def command(
    output: Path | None, require_check: bool, min_score: float | None, at_most: int, only_submissions: bool,
    only_new: bool, annotations: str, form: str, quiet: bool, **asked: Any,
) -> int:  # fmt: skip
    """Evaluate the submissions that a change touches, and report how the leaderboard changes.

    A submission is a .py file, a directory or a zip directly in the folder of submissions, and has the name of its
    file. The change is read from git's objects and never checked out; its submissions run in the sandbox, and nothing
    else of the change is used. Calls are recorded as by pgdl run. Each MEASURE of the library is run as well.

    With --output these files are written: the leaderboard in every format and as a verified site, comment.md with ranks
    before and after, and report.json with the content of comment.md as data. Exit code 1 if a rule is broken; the files
    are written nevertheless.

    Example: pgdl ci --base origin/main --head HEAD --require-check --output build/leaderboard
    """
    from harness.api.ci_files import require_place, write_files
    from harness.ci.annotations import add_summary, commands_stopped, under_github
    from harness.ci.rules import Rules
    from harness.cli.terminal import Terminal, warn, written
    from pgdl import ChangeJob, evaluate_change

    rules = Rules(require_check, min_score, at_most, only_submissions, only_new)
    github = annotations == "github" or (annotations == "auto" and under_github())
    is_json = form == as_json.JSON
    if output is not None:
        require_place(output)
        prepare_directory(output)
    with commands_stopped(github, err=is_json):
        job = ChangeJob(rules=rules, **options.with_execution(asked))
        with Terminal(as_json.console_of(form, quiet=quiet), quiet=quiet) as progress:
            found = evaluate_change(job, progress)
        if output is not None:
            written(write_files(output, found), quiet=quiet)
        elif not (is_json or quiet):
            say("For the leaderboard, the site and the comment, add --output DIR.", err=True)
        for line in (*found.report.notes, *found.report.broken):
            warn(line)
    if github:
        for text in found.annotations:
            say(text, err=is_json)
        add_summary(found.comment)
    if is_json and not quiet:
        put(found.report.to_json())
    return 1 if found.report.broken else 0
