"""Mutants: changes of one expression that a test should notice."""

import ast
import copy
import random
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path

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
    """A change of one line of a file."""

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
