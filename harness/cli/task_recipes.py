"""`pgdl task recipes`: the recipes in the package."""

import click

from harness.cli import as_json


@click.command("recipes")
@as_json.option
def command(form: str) -> None:
    """List the recipes in the package; `pgdl task build` accepts their names."""
    from harness.corpus.catalogue import recipes
    from harness.corpus.recipe import read_recipe
    from harness.tables import print_table, wide_console

    read = {name: read_recipe(file) for name, file in recipes().items()}
    headings = ("recipe", "models", "data", "description")
    rows = [(name, len(one.cells), one.data.source, one.description) for name, one in read.items()]
    if form == as_json.JSON:
        as_json.show([dict(zip(headings, row, strict=True)) for row in rows])
    else:
        print_table(wide_console(), headings, rows, left=("recipe", "data", "description"))
