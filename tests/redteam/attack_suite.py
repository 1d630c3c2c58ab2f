"""The attacks, and their expected outcomes.

A file in attacks/ has the attacks of one kind, each a function; docs/security.md explains the letters in its name. Each
function becomes a submission: `complexity` calls the function, and the submission also has the definitions that the
function uses, from its file and from tools.py. A table `ROWS` has attacks that consist of one expression.

An attack that returns nothing has the value 1.0. The decorator `expected` states the outcome. An attack that detects
its own success prints BREACH. The functions in controls/ are honest and return their value.
"""

import ast
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
MEMORY = "900M"

#: Time limits in seconds: of attacks that may last until the limit, and of all others. Those end by themselves, on a
#: busy machine after more than the first limit.
ENDLESS_S, LONG_S = 3, 90

#: Names of sandboxes in expectations: Landlock's, and the same in a container of a platform.
LANDLOCK, PLATFORM = "landlock", "platform"

#: Attacks that run without PGDL_REDTEAM, in addition to the controls; `make test` leaves the endless ones out.
SHORT = {
    "c_ignores_signals", "d_fork_bomb", "d_raises_limits", "e_daemon", "f_hides_memory", "f_memfd", "f_orphan",
    "g_fill_scratch", "g_writable_places", "h_escapes_in_error", "i_error_that_raises", "j_kills_all",
    "k_claims_infra_error", "k_forged_value", "l_patches_worker", "m_environments", "n_socket_families",
    "o_guessed_paths", "q_writes_to_job", "r_left_files", "s_names_in_mounts", "t_32_bit_calls", "t_becomes_root",
    "t_namespaces",
}  # fmt: skip


def expected(*outcomes: str, **more: Any) -> Callable[[Any], Any]:
    """State the possible outcomes of an attack, and fields of `Attack`. The decorator is read, but never runs."""
    raise NotImplementedError


@dataclass(frozen=True)
class Attack:
    """An attack, or an honest control.

    Attributes:
        name: of the function and of the submission.
        source: of the submission.
        outcomes: possible outcomes.
        under_landlock: possible outcomes in the sandbox `landlock`, if they differ.
        on_platform: outcomes with `landlock` in a platform's container, where workers are root, if they differ again.
        allowed_on_platform: lines that the attack may print on the platform.
        value: the value that the attack must return.
        runtime: the only framework in which the attack runs, or None for all.
        twice: whether the attack is called twice, and looks for marks of its first call.
        on_import: whether the attack runs when its file is imported; `complexity` then does nothing.
        known_breach: the reason why the attack still succeeds.
        breached: the sandboxes in which it succeeds, or None for all.
    """

    name: str
    source: str = field(repr=False)
    outcomes: tuple[str, ...]
    under_landlock: tuple[str, ...] | None = None
    on_platform: tuple[str, ...] | None = None
    allowed_on_platform: tuple[str, ...] = ()
    value: float | None = None
    runtime: str | None = None
    twice: bool = False
    on_import: bool = False
    known_breach: str | None = None
    breached: tuple[str, ...] | None = None

    @property
    def is_control(self) -> bool:
        """Whether the submission is an honest control."""
        return self.name.startswith("control_")

    @property
    def calls(self) -> list[str]:
        """The names of the attack's submissions."""
        return [self.name, f"{self.name}_again"] if self.twice else [self.name]

    @property
    def time_limit_s(self) -> int:
        """The time limit of the attack's calls."""
        possible = {*self.outcomes, *(self.under_landlock or ()), *(self.on_platform or ())}
        return ENDLESS_S if "TIMEOUT" in possible else LONG_S

    def breach_in(self, sandbox: str) -> str | None:
        """Return why the attack is known to succeed in a sandbox; None if the attack must fail there."""
        return self.known_breach if self.breached is None or sandbox in self.breached else None

    def require(self, row: dict[str, Any], sandbox: str) -> None:
        """Assert that the record has the expected outcome."""
        under = self.under_landlock or self.outcomes
        possible = {LANDLOCK: under, PLATFORM: self.on_platform or under}.get(sandbox, self.outcomes)
        assert row["outcome"] in possible, (row["outcome"], row["message"], row["output_tail"][-2000:])
        allowed = self.allowed_on_platform if sandbox == PLATFORM else ()
        assert {line for line in row["output_tail"].splitlines() if "BREACH" in line} <= set(allowed)
        assert row["outcome"] != "OK" or self.value in (None, row["value"])


ON_IMPORT = """
{name}(None, None)
complexity = lambda model, dataset: 1.0
"""
AS_COMPLEXITY = """
def complexity(model, dataset):
    value = {name}(model, dataset)
    return 1.0 if value is None else value
"""


def attacks_of(file: Path) -> Iterator[Attack]:
    """Yield the attacks of a file, which is parsed but never run."""
    tools, own = (ast.parse(source.read_text()).body for source in (HERE / "tools.py", file))
    definitions = [*tools, *own, *(function for statement in own for function in _rows(statement))]
    for function in definitions:
        call = function.decorator_list[0] if isinstance(function, ast.FunctionDef) and function.decorator_list else None
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "expected":
            function.decorator_list.clear()
            assert ast.get_docstring(function), function.name
            outcomes = tuple(map(ast.literal_eval, call.args))
            more = {word.arg: ast.literal_eval(word.value) for word in call.keywords}
            end = ON_IMPORT if more.get("on_import") else AS_COMPLEXITY
            source = "\n".join([*map(ast.unparse, _used(definitions, function.name)), end.format(name=function.name)])
            yield Attack(function.name, source, outcomes, **more)


def _rows(table: ast.stmt) -> Iterator[ast.stmt]:
    """Yield each row of the table `ROWS` as a function."""
    if isinstance(table, ast.Assign) and ast.unparse(table.targets[0]) == "ROWS":
        for name, outcomes, action, why in (row.elts for row in table.value.elts):
            head = f"@expected({ast.unparse(outcomes).strip('()')})\ndef {name.value}(model, dataset):"
            yield from ast.parse(f"{head}\n    {why.value!r}\n    return {ast.unparse(action)}").body


def _used(definitions: list[ast.stmt], name: str) -> list[ast.stmt]:
    """Return the definitions that a function needs, in order. The rest is left out, so its words are not in memory."""
    needed, names = set(), [name]
    while names:
        wanted = names.pop()
        for statement in definitions:
            if statement not in needed and wanted in _bound(statement):
                needed.add(statement)
                names += [node.id for node in ast.walk(statement) if isinstance(node, ast.Name)]
    return [statement for statement in definitions if statement in needed]


def _bound(statement: ast.stmt) -> set[str]:
    """Return the names that a top-level statement defines."""
    if isinstance(statement, ast.ImportFrom) and statement.module in ("attack_suite", "tools"):
        return set()
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).partition(".")[0] for alias in statement.names}
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}


#: Name -> attack.
ATTACKS = {attack.name: attack for file in sorted(HERE.glob("[ac]*s/*.py")) for attack in attacks_of(file)}


def prepared(attacks: Iterable[Attack], directory: Path, target: Path, cache: str, token: str) -> list[Path]:
    """Write the submissions of attacks with the true paths filled in; return their paths.

    An attack that looks for its own marks is written twice.
    """
    places = {"@TASK@": str(target), "@CACHE@": cache, "@TOKEN@": token, "@HOST@": os.uname().nodename}
    copies = []
    for attack in attacks:
        source = attack.source
        for place, true in places.items():
            source = source.replace(place, true)
        for name in attack.calls:
            copies.append(directory / f"{name}.py")
            copies[-1].write_text(f"{source}\n# {name}\n")
    return copies
