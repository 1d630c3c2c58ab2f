"""`pgdl task known` and `fetch`: list known corpora, and download their tasks or an archive of tasks."""

from pathlib import Path
from typing import Any

import click

import pgdl
from harness.cli import as_json, options
from harness.credentials import Address
from harness.errors import UserError
from harness.printing import say
from harness.text import size


@click.command("fetch")
@click.argument("what", metavar="CORPUS[/TASK|/PHASE]|URL", callback=options.parse_address)
@click.option("--sha256", metavar="HEX", help="Digest of the archive at URL.")
@options.tasks
@options.models
@as_json.option
@options.quiet
def command(what: Address, sha256: str | None, tasks_dir: Path, models: Any, form: str, quiet: bool) -> None:
    """Download tasks of a known corpus into the directory of --tasks. The command `pgdl task known` lists the corpora.

    Only requested files are downloaded. After any interruption the same command continues; with more --models it
    extends the tasks. Every file is checked against size and CRC-32, and its SHA-256 is kept for later checks by pgdl
    task validate.

    With a URL and --sha256, an archive of tasks (tar or zip) is downloaded, verified by its digest, and unpacked as the
    directory of --tasks. Links, and paths that lead outside of this directory, are refused in archives and corpora.

    Examples: pgdl task fetch pgdl2020/task8 --tasks pgdl2020

    pgdl task fetch https://example.org/tasks.tar.gz --sha256 9f86... --tasks my_tasks
    """
    if what.is_url:
        if models is not None:
            raise UserError("--models", expected="with the name of a corpus", found=what)
        found = _fetch_archive(what, sha256, tasks_dir, quiet=quiet)
    else:
        if sha256 is not None:
            raise UserError("--sha256", expected="with the URL of an archive", found=what)
        found = _fetch_corpus(str(what), tasks_dir, models, quiet=quiet)
    if form == as_json.JSON:
        as_json.show(found, quiet=quiet)


def _fetch_archive(url: Address, sha256: str | None, tasks_dir: Path, *, quiet: bool) -> dict[str, Any]:
    if sha256 is None:
        raise UserError("--sha256 is missing", file=url, expected="the digest that the tasks' owner announced")
    fetched = pgdl.fetch_archive(url, sha256, tasks_dir)
    if not quiet:
        say(f"{tasks_dir}: {'fetched' if fetched else 'is there already'}", err=True)
    return {"tasks": tasks_dir, "sha256": sha256, "fetched": fetched}


def _fetch_corpus(what: str, tasks_dir: Path, models: Any, *, quiet: bool) -> dict[str, Any]:
    from harness.cli.transfer import Transfer
    from harness.tables import wide_console

    with Transfer(wide_console(quiet=quiet, stderr=True)) as watcher:
        tasks = pgdl.fetch_corpus(what, tasks_dir, models=models, watcher=watcher)
    for task in () if quiet else tasks:
        state = "fetched" if task.is_new else "is there already"
        say(f"{task.directory}: {state}, {task.record.part or f'{task.record.models} models'}", err=True)
    return {
        "tasks": tasks_dir, "corpus": what.partition("/")[0],
        "fetched": [
            {"task": task.name, "directory": task.directory, "models": task.record.models,
             "models_in_archive": task.record.models_in_archive, "etag": task.record.etag,
             "directory_sha256": task.record.directory_sha256, "is_new": task.is_new}
            for task in tasks
        ],
    }  # fmt: skip


@click.command("known")
@options.tasks
@as_json.option
def known(tasks_dir: Path, form: str) -> None:
    """List the corpora that pgdl task fetch knows: tasks, phases, sizes, and how much is already downloaded to --tasks.

    Sizes are of the whole archive of a phase. A task is a part of an archive, and only requested files are downloaded.
    """
    from harness.fetch.catalogue import UNKNOWN, known_here
    from harness.tables import print_table, wide_console

    found = pgdl.corpora()
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
