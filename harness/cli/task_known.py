"""`pgdl task known`: the corpora that `pgdl task fetch` knows, and what of them is here."""

from pathlib import Path

import click

from harness.cli import as_json, options
from harness.credentials import Address


@click.command("known")
@options.tasks
@options.catalogue
@options.sha256
@as_json.option
def command(tasks_dir: Path, catalogue: Address | None, sha256: str | None, form: str) -> None:
    """List the corpora that pgdl task fetch knows: tasks, phases, sizes, and what is in the directory of --tasks.

    Sizes are those of the archive of a phase. A task is a part of it, and only what is asked for is downloaded.
    """
    from harness.cli.task_fetch import corpora
    from harness.fetch.catalogue import UNKNOWN
    from harness.fetch.known import known_here
    from harness.tables import print_table, wide_console
    from harness.text import size

    found = corpora(catalogue, sha256)
    tasks = list(known_here(found.values(), tasks_dir))
    if form == as_json.JSON:
        as_json.show([
            {"corpus": one.corpus.name, "title": one.corpus.title, "licence": one.corpus.licence,
             "citation": one.corpus.citation, "phase": one.archive.phase, "task": one.task.name,
             "about": one.task.about, "models": one.task.models, "sha256": one.task.sha256, "url": str(one.archive.url),
             "archive_bytes": one.archive.bytes, "archive_directory_sha256": one.archive.sha256, "here": one.here}
            for one in tasks
        ])  # fmt: skip
        return
    console = wide_console()
    for corpus in found.values():
        console.print(f"{corpus.name}: {corpus.title}", style="bold")
        console.print(f"{corpus.citation}. {corpus.licence}.")
        rows = [
            (one.task.name, one.archive.phase, one.task.models or UNKNOWN, size(one.archive.bytes),
             one.task.sha256 or UNKNOWN, one.here or "-", one.task.about)
            for one in tasks if one.corpus is corpus
        ]  # fmt: skip
        headings = ("task", "phase", "models", "archive", "SHA-256", "here", "networks")
        left = ("task", "phase", "SHA-256", "here", "networks")
        print_table(console, headings, rows, left=left)
