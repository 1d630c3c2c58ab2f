"""`pgdl task fetch`: downloads tasks whose digest is known."""

from pathlib import Path

import click

from harness.cli import as_json, options


@click.command("fetch")
@click.argument("url", metavar="URL")
@click.option("--sha256", required=True, metavar="HEX", help="Digest of the archive; any other one is not unpacked.")
@options.tasks
@as_json.option
def command(url: str, sha256: str, tasks_dir: Path, form: str) -> None:
    """Download an archive of tasks (tar or zip) from URL, verify its digest, and unpack it as the directory of --tasks.

    Nothing is downloaded if the directory comes from the same archive. Links and paths that lead outside are refused.

    Example: pgdl task fetch https://example.org/tasks.tar.gz --sha256 9f86... --tasks my_tasks
    """
    from harness.task.fetch import fetch_tasks

    fetched = fetch_tasks(url, sha256, tasks_dir)
    click.echo(f"{tasks_dir}: {'fetched' if fetched else 'is there already'}", err=True)
    if form == as_json.JSON:
        as_json.show({"tasks": tasks_dir, "sha256": sha256, "fetched": fetched})
