"""Shell completion of submissions (measures and paths), measures and tasks."""

from pathlib import Path

import click
from click.shell_completion import CompletionItem


def submissions(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a measure, otherwise a path."""
    from harness.submission import installed_measures

    installed = [
        CompletionItem(measure.name, help=measure.origin)
        for measure in installed_measures()
        if incomplete and measure.name.startswith(incomplete)
    ]
    matching = measures(context, parameter, incomplete) + installed
    return matching or [CompletionItem(incomplete, type="file")]


def measures(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a measure of the library."""
    import baselines

    return [
        CompletionItem(name, help=measure.meaning)
        for name, measure in baselines.MEASURES.items()
        if incomplete and name.startswith(incomplete)
    ]


def tasks(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a task under --tasks."""
    from harness.errors import UserError
    from harness.task.layout import find_all

    try:
        found = find_all(Path(context.params.get("tasks_dir") or "task_data"))
    except UserError:  # completion must not print errors
        return []
    return [CompletionItem(task.name) for task in found if task.name.startswith(incomplete)]
