"""Shell completion of measures, their families and costs."""

import click
from click.shell_completion import CompletionItem

from harness.names import ALL, CHEAP


def submissions(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a measure or, if no name fits, a path."""
    return measures(context, parameter, incomplete) or [CompletionItem(incomplete, type="file")]


def measures(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a measure of the library."""
    import baselines

    return [
        CompletionItem(name, help=measure.meaning)
        for name, measure in baselines.MEASURES.items()
        if incomplete and name.startswith(incomplete)
    ]


def measure_lists(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the last name in `--measures`: `all`, `cheap`, or the name of a cost, a family or a measure.

    Families of two words are left out, because bash would split their names.
    """
    import baselines

    before, comma, last = incomplete.rpartition(",")
    families = dict.fromkeys(one.family for one in baselines.MEASURES.values() if " " not in one.family)
    sets = [CompletionItem(name) for name in (ALL, CHEAP, *baselines.Cost, *families) if last and name.startswith(last)]
    found = [*sets, *measures(context, parameter, last)]
    return [CompletionItem(before + comma + item.value, help=item.help) for item in found]
