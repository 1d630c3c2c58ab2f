"""`pgdl task fetch`: downloads tasks of a known corpus, or an archive of tasks whose digest is known."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli import as_json, options
from harness.credentials import Address
from harness.errors import UserError
from harness.printing import say

if TYPE_CHECKING:
    from harness.fetch.catalogue import Corpus


@click.command("fetch")
@click.argument("what", metavar="CORPUS[/TASK|/PHASE]|URL", callback=options.parse_address)
@options.sha256
@options.tasks
@options.models
@options.catalogue
@click.option("--whole", is_flag=True, help="Fetch whole archives of a corpus, from servers that send no parts of one.")
@as_json.option
@options.quiet
def command(
    what: Address, sha256: str | None, tasks_dir: Path, models: int | tuple[str, ...] | None, catalogue: Address | None,
    whole: bool, form: str, quiet: bool,
) -> None:  # fmt: skip
    """Download tasks of a known corpus into the directory of --tasks: pgdl task known lists the corpora.

    Only what is asked for travels. Interrupted anywhere, the same command continues; with more --models it extends the
    tasks. Every file is checked against size and CRC-32, and its SHA-256 is kept: pgdl task validate compares.

    With a URL and --sha256 an archive of tasks (tar or zip) is downloaded, its digest verified, and unpacked as the
    directory of --tasks. Links and paths that lead outside are refused in both cases.

    Examples: pgdl task fetch pgdl2020/task8 --tasks pgdl2020

    pgdl task fetch https://example.org/tasks.tar.gz --sha256 9f86... --tasks my_tasks
    """
    if what.is_url:
        if models or catalogue or whole:
            raise UserError("--models, --catalogue and --whole", expected="with the name of a corpus", found=what)
        found = _fetch_archive(what, sha256, tasks_dir, quiet=quiet)
    else:
        found = _fetch_corpus(str(what), sha256, tasks_dir, models, catalogue, whole=whole, quiet=quiet)
    if form == as_json.JSON and not quiet:
        as_json.show(found)


def _fetch_archive(url: Address, sha256: str | None, tasks_dir: Path, *, quiet: bool) -> dict[str, Any]:
    from harness.fetch.archive import fetch_tasks

    if sha256 is None:
        raise UserError("--sha256 is missing", file=url, expected="the digest that the tasks' owner announced")
    fetched = fetch_tasks(url, sha256, tasks_dir)
    if not quiet:
        say(f"{tasks_dir}: {'fetched' if fetched else 'is there already'}", err=True)
    return {"tasks": tasks_dir, "sha256": sha256, "fetched": fetched}


def _fetch_corpus(
    what: str, sha256: str | None, tasks_dir: Path, models: int | tuple[str, ...] | None, catalogue: Address | None, *,
    whole: bool, quiet: bool,
) -> dict[str, Any]:  # fmt: skip
    from harness.cli.transfer import Transfer
    from harness.fetch.catalogue import find_wanted
    from harness.fetch.corpus import fetch_corpus
    from harness.tables import wide_console

    wanted = find_wanted(what, corpora(catalogue, sha256))
    with Transfer(wide_console(quiet=quiet, stderr=True)) as watcher:
        tasks = fetch_corpus(wanted, tasks_dir, models, watcher, whole=whole, catalogue=catalogue is not None)
    for task in () if quiet else tasks:
        state = "fetched" if task.is_new else "is there already"
        say(f"{task.directory}: {state}, {task.record.part or f'{task.record.models} models'}", err=True)
    return {
        "tasks": tasks_dir, "corpus": wanted[0].corpus.name,
        "fetched": [
            {"task": task.name, "directory": task.directory, "models": task.record.models,
             "models_in_archive": task.record.models_in_archive, "etag": task.record.etag,
             "directory_sha256": task.record.directory_sha256, "is_new": task.is_new}
            for task in tasks
        ],
    }  # fmt: skip


def corpora(catalogue: Address | None, sha256: str | None) -> "dict[str, Corpus]":
    """Return the known corpora, or that of a catalogue, which may be a URL with a digest; raises `UserError`."""
    from harness.fetch.catalogue import fetched_corpora, known_corpora

    if catalogue is None or not catalogue.is_url:
        if sha256 is not None:
            raise UserError("--sha256", expected="with the URL of an archive, or of a --catalogue")
        return known_corpora(None if catalogue is None else Path(catalogue.reveal()))
    if sha256 is None:
        raise UserError("--sha256 is missing", file=catalogue, expected="the digest that its owner announced")
    return fetched_corpora(catalogue, sha256)
