"""Shell completion of submissions, measures and their costs, recipes, and tasks."""

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from harness.credentials import RESULTS, Address
from harness.errors import UserError
from harness.names import ALL, CHEAP
from harness.shell import is_name


def submissions(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a measure, otherwise a path."""
    from harness.submission.installed import installed_measures

    installed = _items([one.name for one in installed_measures()], incomplete) if incomplete else []
    return measures(context, parameter, incomplete) + installed or [CompletionItem(incomplete, type="file")]


def scored(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a recorded submission, otherwise a measure or a path."""
    return recorded(context, parameter, incomplete) or submissions(context, parameter, incomplete)


def recorded(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a submission in the SQLite file of --results. SQLAlchemy is too slow to import here."""
    from harness.sqlite import protect, require_sound

    results: Address = context.params.get("results") or Address(RESULTS, "--results")
    file = Path(results.reveal().removeprefix("sqlite:///"))
    query = "SELECT DISTINCT submission FROM evaluations ORDER BY submission"
    try:
        require_sound(file)
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, timeout=0)) as database:
            protect(database, file, read_only=True)
            names = [str(name) for (name,) in database.execute(query)]
    except (sqlite3.Error, UnicodeError, UserError):  # completion prints no errors
        return []
    return _items(names, incomplete)


def recipes(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a recipe in the package, otherwise a path."""
    from harness.corpus.catalogue import recipes as find_recipes

    try:
        names = [name for name in find_recipes() if incomplete and name.startswith(incomplete)]
    except UserError:  # completion prints no errors
        names = []
    return [*map(CompletionItem, names)] or [CompletionItem(incomplete, type="file")]


def measures(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a measure of the library."""
    import baselines

    return [
        CompletionItem(name, help=measure.meaning)
        for name, measure in baselines.MEASURES.items()
        if incomplete and name.startswith(incomplete)
    ]


def measure_lists(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the last name of `--measures`: all, cheap, a cost, a family, or a measure.

    Families of two words are left out, because bash would split their names.
    """
    import baselines

    before, comma, last = incomplete.rpartition(",")
    families = dict.fromkeys(one.family for one in baselines.MEASURES.values() if " " not in one.family)
    sets = [CompletionItem(name) for name in (ALL, CHEAP, *baselines.Cost, *families) if last and name.startswith(last)]
    found = [*sets, *measures(context, parameter, last)]
    return [CompletionItem(before + comma + item.value, help=item.help) for item in found]


def costs(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Complete a cost of measures, or `cheap`."""
    import baselines

    return [name for name in (*baselines.Cost, CHEAP) if name.startswith(incomplete)]


def tasks(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a task in the directory of --tasks."""
    from harness.task.layout import TaskDirectory

    try:
        found = TaskDirectory(Path(context.params.get("tasks_dir") or "task_data")).all()
    except UserError:  # completion prints no errors
        return []
    return _items([task.name for task in found], incomplete)


def _items(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    """Complete a name. Leave out names that a shell would interpret: strangers may have chosen them."""
    return [CompletionItem(name) for name in names if name.startswith(incomplete) and is_name(name)]
