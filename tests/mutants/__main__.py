"""`python -m tests.mutants`: how many of 500 small changes of the code the tests notice.

Each mutant of mutants.tsv is tried in a copy of the checkout, by the tests of its own room first, then by all others.
Results are added to build/mutants.tsv; the same command goes on where it was interrupted.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import click

from tests.mutants.mutations import Mutant, draw, read, write

ROOT = Path(__file__).parents[2]
LIST = Path(__file__).with_name("mutants.tsv")
RESULTS = ROOT / "build" / "mutants.tsv"
ROOMS = ("scoring", "harness/board", "harness/records", "harness/execution", "baselines/core")
NUMBER = 500
FLOORS = {"test": "not full and not rest", "rest": "rest and not full"}
#: A mutant that makes a test endless is noticed, too.
LIMIT_S = 1200


@click.command()
@click.option("--draw", "seed", type=int, help="Draw another list of mutants with this seed, and try none.")
@click.option("--check", is_flag=True, help="Only print the mutants whose lines are gone.")
@click.option(
    "--floor",
    type=click.Choice([*FLOORS]),
    default="test",
    help="Whose tests try them; `rest` only tries what `test` missed.",
)
@click.option("--most", type=int, help="Try at most this many.")
def main(seed: int | None, check: bool, floor: str, most: int | None) -> None:
    """Try the mutants, and print how many were noticed."""
    if check:
        gone = [mutant for mutant in read(LIST) if not mutant.is_there(ROOT)]
        click.echo("\n".join([*(f"line is gone: {mutant}" for mutant in gone), f"{len(gone)} of {NUMBER} are gone"]))
        sys.exit(bool(gone))
    if seed is not None:
        write(draw(ROOT, [file for room in ROOMS for file in sorted((ROOT / room).rglob("*.py"))], NUMBER, seed), LIST)
        return
    if attempt(None, floor, [room.split("/")[-1] for room in ROOMS]) != f"missed by {floor}":
        raise click.ClickException(f"the tests of {floor} fail without any mutant: mend them first")
    known = dict(line.rsplit("\t", 1) for line in RESULTS.read_text().splitlines()) if RESULTS.exists() else {}
    RESULTS.parent.mkdir(exist_ok=True)
    for mutant in read(LIST)[:most]:
        before = known.get(str(mutant))
        if before is None or (floor == "rest" and before == "missed by test"):
            known[str(mutant)] = result = attempt(mutant, floor, [mutant.file.removeprefix("harness/").split("/")[0]])
            with RESULTS.open("a") as stream:
                stream.write(f"{mutant}\t{result}\n")
            click.echo(f"{result}: {mutant}")
    for result, number in sorted(Counter(known.values()).items()):
        click.echo(f"{number:4} {result}")


def attempt(mutant: Mutant | None, floor: str, rooms: list[str]) -> str:
    """Return whether the tests of a floor notice a mutant; the tests of `rooms` run first. None: without a mutant."""
    with tempfile.TemporaryDirectory() as directory:
        copy = Path(directory, "checkout")
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", ".venv", ".*_cache", "build", "__pycache__"))
        if mutant:
            if not mutant.is_there(copy):
                return "line is gone"
            mutant.apply(copy)
        others = [f"--ignore=tests/{room}" for room in rooms]
        for where in ([f"tests/{room}" for room in rooms], others):
            if not passes(copy, [*where, "-m", FLOORS[floor]]):
                return f"noticed by {floor}"
    return f"missed by {floor}"


def passes(checkout: Path, arguments: list[str]) -> bool:
    """Return whether tests pass; programs that they start import the checkout, too."""
    command = [sys.executable, "-m", "pytest", "-xq", "-n2", "--dist=loadfile", "-pno:cacheprovider", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    try:
        ended = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        return False
    return ended.returncode == 0


if __name__ == "__main__":
    main()
