"""Tests of imports between rooms (packages): only as the table in docs/architecture.md and `__init__` allow."""

import ast
import functools
import re
import subprocess
import sys
from pathlib import Path

import pytest

from harness.extras import EXTRA_OF

ROOT = Path(__file__).parent.parent
HARNESS = ROOT / "harness"

#: Frameworks; only code of separate processes may import them.
FRAMEWORKS = {"tensorflow", "keras", "tf_keras", "jax", "torch"}

#: Files of harness/, besides `worker`, that may import frameworks: they run in such processes, or in the process of a
#: caller who uses a framework.
TRAINER = {
    HARNESS / "api" / "keras_data.py", HARNESS / "api" / "torch_data.py", HARNESS / "torch_import" / "export.py",
    HARNESS / "torch_import" / "reference.py",
} | {
    HARNESS / "corpus" / f"{name}.py"
    for name in (
        "augmentation", "autoaugment", "datasets", "network", "sources", "trainer", "training",
    )
}  # fmt: skip


def rules() -> dict[str, set[str]]:
    """Return room -> rooms that it may import, from the table in docs/architecture.md."""
    found = {}
    for line in (ROOT / "docs" / "architecture.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 3 and (room := re.fullmatch(r"`([a-z_/]+?)/?`", cells[0])):
            found[room[1].removeprefix("harness/")] = set(re.findall(r"`([a-z_]+)`", cells[2]))
    return found


RULES = rules()


@functools.cache  # the tests of every room look at every file
def imports(file: Path) -> frozenset[str]:
    """Return the full names of the modules that a file imports, including modules imported from a package."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
            names = (f"{node.module}.{alias.name}" for alias in node.names)
            found.update(name for name in names if is_module(name))
    return frozenset(found)


@functools.cache
def is_module(name: str) -> bool:
    path = ROOT / name.replace(".", "/")
    return path.with_suffix(".py").is_file() or path.is_dir()


def room_of(module: str) -> str | None:
    """Return the room of a module, or None for modules outside of rooms, which every room may use."""
    head, *rest = module.split(".")
    if head in ("scoring", "baselines", "submissions"):
        return head
    if head == "harness" and rest and (HARNESS / rest[0]).is_dir():
        return rest[0]
    return None


def files_of(room: str) -> list[Path]:
    place = HARNESS / room if (HARNESS / room).is_dir() else ROOT / room
    return sorted(place.rglob("*.py"))


@pytest.mark.parametrize("room", RULES)
def test_a_room_imports_only_what_the_table_allows(room: str) -> None:
    rooms = {(file.name, other) for file in files_of(room) for name in imports(file) if (other := room_of(name))}
    assert {pair for pair in rooms if pair[1] not in RULES[room] | {room}} == set()


def named_by(room: str, name: str) -> set[str]:
    """Return the texts in the list `name` (`MODULES` or `__all__`) of a room's `__init__`."""
    for statement in ast.parse((HARNESS / room / "__init__.py").read_text()).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == name:
            return set(ast.literal_eval(statement.value))
    return set()


ROOMS = sorted(path.parent.name for path in HARNESS.glob("*/__init__.py"))


@pytest.mark.parametrize("room", [room for room in ROOMS if named_by(room, "MODULES") or named_by(room, "__all__")])
def test_others_use_what_a_room_names_and_it_names_nothing_else(room: str) -> None:
    inside = set(files_of(room))
    public = HARNESS / "public" / "pgdl"
    files = [file for file in HARNESS.rglob("*.py") if file not in inside and file.parent != public]
    files += [public / "__init__.pyi"] if room != "api" else []
    names = {name for file in files for name in imports(file) if name.startswith(f"harness.{room}.")}
    assert {name.split(".")[2] for name in names if is_module(name)} == named_by(room, "MODULES")


def test_every_room_is_in_the_table_and_what_all_rooms_share_imports_none_of_them() -> None:
    assert {*ROOMS, "scoring", "baselines"} <= set(RULES)
    files = HARNESS.glob("*.py")
    assert {(file.name, name) for file in files for name in imports(file) if room_of(name)} == set()


@pytest.mark.parametrize("room", ["scoring", *ROOMS])
def test_frameworks_are_imported_only_where_models_run(room: str) -> None:
    files = [file for file in files_of(room) if room != "worker" and file not in TRAINER]
    found = {file.name: {name.split(".")[0] for name in imports(file)} & FRAMEWORKS for file in files}
    assert {name: heads for name, heads in found.items() if heads} == {}


@pytest.mark.parametrize("room", ["worker", "inspector"])
def test_what_runs_in_a_process_of_its_own_imports_nothing_of_the_rest_of_the_harness(room: str) -> None:
    for file in files_of(room):
        own = {name for name in imports(file) if name.split(".")[0] in ("harness", "scoring", "baselines")}
        assert all(name.startswith(f"harness.{room}") for name in own), file.name


def test_who_reads_records_imports_neither_measures_nor_sandbox_nor_an_extra() -> None:
    program = "import sys, harness.site, harness.api.scores, harness.api.boards; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    unwanted = r"baselines|harness\.(sandbox|execution|worker\.landlock)|submissions|" + "|".join(EXTRA_OF)
    assert not [name for name in done.stdout.split() if re.match(rf"({unwanted})(\.|$)", name)]


def calls(file: Path) -> set[str]:
    return {ast.unparse(node.func) for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)}


#: Files that may start processes.
STARTS = {
    HARNESS / "children.py",
    HARNESS / "worker" / "zygote.py",  # in the sandbox: it forks, and becomes a call's supervisor
}

_START = re.compile(
    r"(subprocess|children)?\.?(Popen|InJob|check_call|check_output|call|getoutput|getstatusoutput)"
    r"|subprocess\.run|os\.(system|popen|fork|forkpty|exec\w+|spawn\w+|posix_spawnp?)|pty\.spawn"
    r"|asyncio\.create_subprocess_\w+|multiprocessing\.\w+|ProcessPoolExecutor"
)


def test_processes_are_started_in_one_place() -> None:
    files = [file for room in ("harness", "baselines", "scoring") for file in (ROOT / room).rglob("*.py")]
    assert {file for file in files if any(_START.fullmatch(name) for name in calls(file))} == STARTS


def test_matplotlib_is_imported_and_the_checksum_of_records_is_written_in_one_place() -> None:
    """harness/plots.py keeps matplotlib from reading settings in the current directory."""
    files = [file for file in HARNESS.rglob("*.py") if any(name.startswith("matplotlib") for name in imports(file))]
    assert files == [HARNESS / "plots.py"]
    knows = [file for file in HARNESS.rglob("*.py") if "0xA282EAD8" in file.read_text()]
    assert knows == [HARNESS / "format" / "shards.py"]


ROOT = Path(__file__).parents[1]


@pytest.mark.timeout(1800)  # most of a minute alone, and more memory than the caches of a busy machine hold
def test_mypy_accepts_the_types_of_the_whole_program() -> None:
    done = subprocess.run([sys.executable, "-m", "mypy"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
