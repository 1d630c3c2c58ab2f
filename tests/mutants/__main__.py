"""`python -m tests.mutants`: measures how many small changes of the code the tests notice.

Each mutant of mutants.tsv is tried in a copy of the checkout, by the tests of its own package first, then by all
others. Results are added to build/mutants.tsv, so the same command resumes an interrupted run.
"""

import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import click

from tests.mutants.mutations import Mutant, read, renew, write

ROOT = Path(__file__).parents[2]
LIST = Path(__file__).with_name("mutants.tsv")
RESULTS = ROOT / "build" / "mutants.tsv"
ROOMS = ("scoring", "harness/board", "harness/records", "harness/execution", "baselines/core")
#: Which tests try mutants: their marks, and the results so far with which a mutant is tried.
TESTS = {
    "room": ("not full and not rest", (None,)),
    "test": ("not full and not rest", (None, "missed by room")),
    "rest": ("rest and not full", ("missed by test",)),
}


@click.command()
@click.option("--check", is_flag=True, help="Only print the mutants whose lines are gone.")
@click.option("--renew", "seed", type=int, help="Only replace these by others of their rooms, drawn with this seed.")
@click.option(
    "--by",
    type=click.Choice([*TESTS]),
    default="test",
    help="`room`: the tests of the mutant's room in `make test`. `test`: all of `make test`. `rest`: those of "
    "`make test-rest`, for what `test` missed.",
)
@click.option("--sample", type=int, help="Try this many, always the same, in a random order.")
def main(check: bool, seed: int | None, by: str, sample: int | None) -> None:
    """Try the mutants, and print how many were noticed."""
    mutants = read(LIST)
    if check:
        gone = [mutant for mutant in mutants if not mutant.is_there(ROOT)]
        click.echo("\n".join([*(f"line is gone: {one}" for one in gone), f"{len(gone)} of {len(mutants)} are gone"]))
        sys.exit(bool(gone))
    if seed is not None:
        write(renew(mutants, ROOT, ROOMS, seed), LIST)
        return
    chosen = mutants if sample is None else random.Random(0).sample(mutants, sample)
    known = dict(line.rsplit("\t", 1) for line in RESULTS.read_text().splitlines()) if RESULTS.exists() else {}
    RESULTS.parent.mkdir(exist_ok=True)
    waiting = [mutant for mutant in chosen if known.get(str(mutant)) in TESTS[by][1]]
    if waiting and attempt(None, by, sorted({room_of(mutant) for mutant in waiting})) != f"missed by {by}":
        raise click.ClickException("the tests fail without any mutant: mend them first")
    for mutant in waiting:
        known[str(mutant)] = result = attempt(mutant, by, [room_of(mutant)])
        with RESULTS.open("a") as stream:
            stream.write(f"{mutant}\t{result}\n")
        click.echo(f"{result}: {mutant}")
    for result, number in sorted(Counter(known[str(mutant)] for mutant in chosen if str(mutant) in known).items()):
        click.echo(f"{number:4} {result}")


def room_of(mutant: Mutant) -> str:
    """Return the directory below tests/ with the tests of the mutant's package."""
    return mutant.file.removeprefix("harness/").split("/")[0]


def attempt(mutant: Mutant | None, by: str, rooms: list[str]) -> str:
    """Return whether the tests notice a mutant, as text; the tests of `rooms` run first.

    Without a mutant, the unchanged code is tested.
    """
    own = [f"tests/{room}" for room in rooms]
    with tempfile.TemporaryDirectory() as directory:
        copy = Path(directory, "checkout")
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", ".venv", ".*_cache", "build", "__pycache__"))
        if mutant:
            if not mutant.is_there(copy):
                return "line is gone"
            mutant.apply(copy)
        for where in [own] if by == "room" else [own, [f"--ignore={room}" for room in own]]:
            if not passes(copy, [*where, "-m", TESTS[by][0]]):
                return f"noticed by {by}"
    return f"missed by {by}"


def passes(checkout: Path, arguments: list[str]) -> bool:
    """Return whether the tests pass. Programs that they start also import the checkout."""
    command = [sys.executable, "-m", "pytest", "-xq", "-n2", "--dist=loadfile", "-pno:cacheprovider", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    return subprocess.run(command, cwd=checkout, env=environment, capture_output=True).returncode == 0


if __name__ == "__main__":
    main()
