"""`pgdl task import`: makes a task of existing models and data."""

from pathlib import Path

import click

import pgdl
from harness.cli import as_json, options
from harness.errors import UserErrors
from harness.printing import say
from harness.shell import typed


@click.command("import")
@click.argument("table", metavar="TABLE", type=options.PATH)
@options.data
@click.option(
    "--test",
    metavar="DATA",
    help="Test data, by which test accuracies are computed or checked; never shown to measures.",
)
@options.output("the task into this directory of tasks.", required=True)
@as_json.option
@options.quiet
@click.option("--name", metavar="NAME", help="Name of the task. Default: the name of TABLE without its suffix.")
@click.option(
    "--divide-by", "divisor", type=float, default=1.0, show_default=True, metavar="NUMBER",
    help="Divide all inputs by this number, e.g. 255 for pixels.",
)  # fmt: skip
def command(
    table: Path, data: str, test: str | None, output: Path, name: str | None, divisor: float, form: str, quiet: bool
) -> None:
    """Make a task of the trained models in TABLE, a CSV file with a column `file` and one row per model.

    The column `file` names a .keras file, a .pt2 file of torch.export.save, a whole model as .h5, or an architecture as
    JSON. For JSON, the column `weights` names the weights (.weights.h5, .h5 or .npz). A column `initial_weights` may
    name the weights before training. Accuracies in the columns `train_accuracy` and `test_accuracy` are checked;
    missing accuracies are computed. Any other column is a hyperparameter.

    DATA are arrays in an .npz file (x and y, or x_train, y_train, x_test and y_test) or in two .npy files (x*.npy, with
    y*.npy beside it), a directory of TFRecord shards or of images by class, or a dataset of Keras: mnist,
    fashion_mnist, cifar10, cifar100. pgdl help your-own-models explains these formats.

    Example: pgdl task import models.csv --data mnist.npz --test mnist.npz --divide-by 255 --output my_tasks
    """
    from harness.format.problems import InvalidTaskError

    order = pgdl.ImportOrder(table, data, test, output, name or table.stem, divisor)
    notes: list[str] = []

    def tell(line: str) -> None:
        say(line, err=form == as_json.JSON)

    def warn(line: str) -> None:
        notes.append(line.removeprefix("Note: "))
        tell(line)

    try:
        pgdl.import_task(order, warn, (lambda _: None) if quiet else tell)
    except InvalidTaskError as error:
        raise UserErrors(*error.problems) from error  # all problems, as nothing has been written
    if form == as_json.JSON and not quiet:
        as_json.show({"task": order.name, "directory": order.task, "reference": order.reference, "notes": notes})
    elif not quiet:
        say(f"Wrote {order.task}. Next: {typed('pgdl', 'task', 'show', str(output))}")
