"""`pgdl task recipes`: the recipes in the package."""

import click


@click.command("recipes")
def command() -> None:
    """List the recipes in the package; `pgdl task build` accepts their names."""
    from rich.table import Table

    from harness.corpus.catalogue import recipes
    from harness.corpus.recipe import read_recipe
    from harness.tables import wide_console

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("recipe", "models", "data", "description"):
        table.add_column(heading, justify="right" if heading == "models" else "left", no_wrap=True)
    for name, file in recipes().items():
        recipe = read_recipe(file)
        table.add_row(name, str(len(recipe.cells)), recipe.data.source, recipe.description)
    wide_console().print(table, markup=False)
