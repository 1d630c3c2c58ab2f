"""`python -m tests.mutants`: measures how many small changes of the code the tests notice.

Each mutant of mutants.tsv is tried in a copy of the checkout, by the tests of its own package first, then by all
others. Results are added to build/mutants.tsv, so the same command resumes an interrupted run.
"""

import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path

import click

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

COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
ARITHMETIC = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Pow: ast.Mult, ast.Mod: ast.Add, ast.MatMult: ast.Add,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    file: str  #: relative to the repository
    line: str  #: the text of the line, without the space around it
    nth: int  #: which of the file's lines with this text, from 0
    column: int  #: where `old` begins in the text
    old: str
    new: str

    def is_there(self, root: Path) -> bool:
        """Return whether the file below `root` still has the line."""
        path = root / self.file
        return path.exists() and self.nth < len(self._places(path.read_text().split("\n")))

    def apply(self, root: Path) -> None:
        path = root / self.file
        lines = path.read_text().split("\n")
        place = self._places(lines)[self.nth]
        begin = len(lines[place]) - len(lines[place].lstrip()) + self.column
        lines[place] = lines[place][:begin] + self.new + lines[place][begin + len(self.old) :]
        path.write_text("\n".join(lines))

    def _places(self, lines: list[str]) -> list[int]:
        return [number for number, text in enumerate(lines) if text.strip() == self.line]

    def __str__(self) -> str:
        end = self.column + len(self.old)
        return f"{self.file}: {self.line[: self.column]}[{self.old} -> {self.new}]{self.line[end:]}"


def renew(mutants: list[Mutant], root: Path, rooms: Sequence[str], seed: int) -> list[Mutant]:
    """Return the mutants; a mutant whose line is gone is replaced by a random other mutant of its package."""
    draws = random.Random(seed)
    others = {}
    for room in rooms:
        every = [one for file in sorted((root / room).rglob("*.py")) for one in mutants_of(root, file)]
        others[room] = [one for one in draws.sample(every, len(every)) if one not in mutants]
    return [
        mutant
        if mutant.is_there(root)
        else next(others[room].pop() for room in rooms if mutant.file.startswith(f"{room}/"))
        for mutant in mutants
    ]


def mutants_of(root: Path, file: Path) -> Iterator[Mutant]:
    source = file.read_text()
    lines = source.split("\n")
    for function in _functions(ast.parse(source)):
        for node in ast.walk(function):
            changed = _changed(node)
            if changed is None or node.lineno != node.end_lineno:
                continue
            text = lines[node.lineno - 1]
            begin, end = (len(text.encode()[:at].decode()) for at in (node.col_offset, node.end_col_offset))
            line = text.strip()
            nth = sum(other.strip() == line for other in lines[: node.lineno - 1])
            yield Mutant(
                file.relative_to(root).as_posix(), line, nth, begin - (len(text) - len(text.lstrip())),
                text[begin:end], ast.unparse(changed),
            )  # fmt: skip


def _functions(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the bodies of the outermost functions; decorators, arguments and annotations have no mutants."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        for node in ast.iter_child_nodes(waiting.pop()):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield ast.Module(body=node.body, type_ignores=[])
            else:
                waiting.append(node)


def _changed(node: ast.AST) -> ast.expr | None:
    """Return the changed expression, or None if no mutation fits the node."""
    new = copy.copy(node)
    match new:
        case ast.Compare(ops=[operator]) if type(operator) in COMPARISONS:
            new.ops = [COMPARISONS[type(operator)]()]
        case ast.BinOp(op=operator) if type(operator) in ARITHMETIC and not _is_text(node):
            new.op = ARITHMETIC[type(operator)]()
            return new
        case ast.BoolOp(op=ast.And()):
            new.op = ast.Or()
        case ast.BoolOp(op=ast.Or()):
            new.op = ast.And()
        case ast.UnaryOp(op=ast.Not()):
            return new.operand
        case ast.UnaryOp(op=ast.USub()):
            return new.operand
        case ast.Constant(value=bool(value)):
            new.value = not value
        case ast.Constant(value=int(value) | float(value)):
            new.value = value + 1
        case ast.IfExp():
            new.body, new.orelse = new.orelse, new.body
        case _:
            return None
    return new


def _is_text(node: ast.AST) -> bool:
    return any(isinstance(part, ast.JoinedStr | ast.Constant) and not _is_number(part) for part in ast.walk(node))


def _is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float | complex)


def write(mutants: list[Mutant], file: Path) -> None:
    rows = [
        [field.name for field in fields(Mutant)],
        *([str(value) for value in astuple(mutant)] for mutant in mutants),
    ]
    file.write_text("".join("\t".join(row) + "\n" for row in rows))


def read(file: Path) -> list[Mutant]:
    rows = [line.split("\t") for line in file.read_text().splitlines()[1:]]
    return [Mutant(name, line, int(nth), int(column), old, new) for name, line, nth, column, old, new in rows]


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
@click.option("--sample", type=click.IntRange(min=1), help="Try at most this many, always the same, in a random order.")
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
    chosen = mutants if sample is None else random.Random(0).sample(mutants, min(sample, len(mutants)))
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
    path = f"{checkout}{os.pathsep}{checkout / 'harness' / 'public'}"  # of all packages, and of `pgdl`
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": ""}
    return subprocess.run(command, cwd=checkout, env=environment, capture_output=True).returncode == 0


if __name__ == "__main__":
    main()
