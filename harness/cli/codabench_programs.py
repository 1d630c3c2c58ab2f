"""The two programs that Codabench runs in a container of the image of docs/codabench.md."""

from pathlib import Path

import click

from harness.printing import say

_DIRECTORY = click.Path(path_type=Path, file_okay=False)


def add_to(group: click.Group) -> None:
    """Add both commands to a group."""
    group.add_command(ingest)
    group.add_command(score)


@click.command()
@click.argument("program", type=_DIRECTORY)
@click.argument("input_data", type=_DIRECTORY)
@click.argument("submission", type=_DIRECTORY)
@click.argument("output", type=_DIRECTORY)
def ingest(program: Path, input_data: Path, submission: Path, output: Path) -> int:
    """Call the submission on all models of a phase, and write the result to OUTPUT: the ingestion program.

    The arguments are the directories that Codabench mounts. Calls end in good time before the container does.
    """
    from harness.cli.terminal import Terminal
    from harness.codabench.ingestion import ingest as make_calls
    from harness.tables import wide_console

    with Terminal(wide_console()) as progress:
        result = make_calls(program, input_data, submission, output, progress)
    if result.problem:
        say(f"pgdl: {result.problem}", err=True)
        return 1
    say(f"Written: {output}")
    return 0


@click.command()
@click.argument("program", type=_DIRECTORY)
@click.argument("reference", type=_DIRECTORY)
@click.argument("result", type=_DIRECTORY)
@click.argument("output", type=_DIRECTORY)
def score(program: Path, reference: Path, result: Path, output: Path) -> int:
    """Score the result of a submission, and write scores.json and detailed_results.html: the scoring program."""
    from harness.codabench.scoring_program import score_result

    say(score_result(program, reference, result, output))
    return 0
