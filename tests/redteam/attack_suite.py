"""The files of the attack suite, and what each is expected to do.

Every file in attacks/ is one submission. Its name starts with the kind of attack:

    a endless in Python   b endless in C     c ignores signals     d processes       e daemons
    f memory              g files            h output, input       i values, errors  j ways to die
    k control channel     l worker's code    m other processes     n network         o other files
    p debugging           q read-only files  r earlier, other calls                  s names and times
    t kernel

Constants state the expected result: EXPECT, the possible outcomes; UNDER_LANDLOCK, those in that sandbox if different;
ON_PLATFORM, those in that sandbox in a platform's container, where workers are root, if different again;
ALLOWED_ON_PLATFORM, what it may print there; VALUE, the value; RUNTIME, the only framework in which it runs, if not
all; TWICE, that it is called twice and looks for its own marks; KNOWN_BREACH, the reason why it succeeds at present;
BREACHED, the sandboxes in which it does, if not all. An attack that detects its own success prints BREACH.
The files in controls/ are honest and return their VALUE.
"""

import ast
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FILES = {path.stem: path for path in sorted(HERE.glob("[ac]*s/*.py"))}
TIME_LIMIT = 3
MEMORY = "900M"

#: Names of sandboxes in constants: Landlock's, and the same in a container of a platform.
LANDLOCK, PLATFORM = "landlock", "platform"
CONSTANTS = (
    "EXPECT", "UNDER_LANDLOCK", "ON_PLATFORM", "ALLOWED_ON_PLATFORM", "VALUE", "TWICE", "KNOWN_BREACH", "BREACHED",
    "RUNTIME",
)  # fmt: skip

#: Attacks that run without PGDL_REDTEAM, in addition to the controls.
SHORT = {
    "c_ignores_signals", "d_fork_bomb", "e_daemon", "f_hides_memory", "f_orphan", "g_fill_scratch", "g_writable_places",
    "h_escapes_in_error", "i_error_that_raises", "j_kills_all", "k_claims_infra_error", "k_forged_value",
    "l_patches_worker", "m_environments", "n_socket_families", "o_guessed_paths", "q_writes_to_job", "r_left_files",
    "s_names_in_mounts", "t_32_bit_calls", "t_becomes_root", "t_namespaces",
}  # fmt: skip


def constants(path: Path) -> dict[str, Any]:
    """The constants of an attack, read without running it."""
    found = {}
    for statement in ast.parse(path.read_text()).body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            name = statement.targets[0].id
            if name in CONSTANTS:
                found[name] = ast.literal_eval(statement.value)
    return found


def calls(path: Path) -> list[str]:
    """Names under which an attack is submitted."""
    return [path.stem, f"{path.stem}_again"] if "TWICE" in constants(path) else [path.stem]


def expected_of(path: Path, sandbox: str) -> tuple[str, ...]:
    """The possible outcomes of an attack in a sandbox."""
    said = constants(path)
    under = said.get("UNDER_LANDLOCK", said["EXPECT"])
    found: tuple[str, ...] = {LANDLOCK: under, PLATFORM: said.get("ON_PLATFORM", under)}.get(sandbox, said["EXPECT"])
    return found


def known_breach(path: Path, sandbox: str) -> str | None:
    """The reason why an attack succeeds in a sandbox; None if it must not."""
    said = constants(path)
    return said["KNOWN_BREACH"] if "KNOWN_BREACH" in said and sandbox in said.get("BREACHED", sandbox) else None


def require_expected(row: dict[str, Any], path: Path, sandbox: str) -> None:
    """Assert that the record of an attack is as expected."""
    said = constants(path)
    assert row["outcome"] in expected_of(path, sandbox), (row["outcome"], row["message"], row["output_tail"][-2000:])
    allowed = said.get("ALLOWED_ON_PLATFORM", ()) if sandbox == PLATFORM else ()
    assert {line for line in row["output_tail"].splitlines() if "BREACH" in line} <= set(allowed)
    if row["outcome"] == "OK" and "VALUE" in said:
        assert row["value"] == said["VALUE"]


def prepared(paths: Iterable[Path], directory: Path, target: Path, cache: str, token: str) -> list[Path]:
    """Write attacks with the true paths filled in, and a second copy of those that look for their own marks."""
    places = {"@TASK@": str(target), "@CACHE@": cache, "@TOKEN@": token, "@HOST@": os.uname().nodename}
    copies = []
    for path in paths:
        source = path.read_text()
        for place, true in places.items():
            source = source.replace(place, true)
        for name in calls(path):
            copies.append(directory / f"{name}.py")
            copies[-1].write_text(f"{source}\n# {name}\n")
    return copies
