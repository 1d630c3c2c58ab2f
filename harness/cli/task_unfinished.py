"""What `pgdl task show` says of a task whose models are still being trained."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.cli.task_gaps import gaps_object, print_gaps
from harness.printing import say

if TYPE_CHECKING:
    from harness.corpus.build import Build


def print_build(build: "Build", out: Path) -> None:
    """Print the gaps of the models that are finished, how many are missing, and the command that continues."""
    from harness.cli.build_progress import models, not_reached
    from harness.corpus.unfinished import count_tests, reference_of
    from harness.task.incomplete import command_to_continue

    records, expected = build.records(), len(build.recipe.cells)
    say(f"{build.recipe.name} (not finished) in {build.building}", bold=True)
    missing = f"{len(records)} of {models(expected)} finished, {expected - len(records)} missing"
    say(f"{missing}; {command_to_continue(out, build.building.name)} continues")
    if (reference := reference_of(build)) is not None:
        print_gaps(reference, count_tests(build))
    if unreached := not_reached(records):
        say(unreached)
    say()


def build_object(build: "Build") -> dict[str, Any]:
    """Return the same for programs."""
    from harness.corpus.unfinished import count_tests, reference_of
    from harness.task.summary import spread

    records = build.records()
    content: dict[str, Any] = {
        "task": build.recipe.name,
        "layout": "not finished",
        "directory": str(build.building),
        "models": len(records),
        "expected_models": len(build.recipe.cells),
        "hyperparameters": list(build.recipe.grid),
        "unreached": [number for number, record in sorted(records.items()) if not record["reached"]],
    }
    if (reference := reference_of(build)) is not None:
        gaps = {"gaps": asdict(spread(list(reference.gaps.values())))}
        content |= gaps | gaps_object(reference, count_tests(build))
    return content
