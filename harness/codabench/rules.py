"""Codabench's own rules for bundles, each with the place in its sources where it is enforced.

The places are those of revision c7dbc756 of https://github.com/codalab/codabench.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from harness.codabench.opened import OpenedBundle

Lines = Iterator[str]

#: The parts of a task that are files.
PARTS = ("ingestion_program", "input_data", "scoring_program", "reference_data")


@dataclass(frozen=True)
class Rule:
    """A rule, and where it comes from."""

    place: str
    problems: Callable[[OpenedBundle], Lines]

    def lines(self, bundle: OpenedBundle) -> Lines:
        """Yield the problems of a bundle, each with the place of the rule."""
        try:
            yield from (f"{line} ({self.place})" for line in self.problems(bundle))
        except (TypeError, ValueError, AttributeError, LookupError) as error:
            what = self.problems.__name__.replace("_", " ")
            yield f"{what}: a value of another kind than expected: {error} ({self.place})"


#: All rules, in the order in which problems are named.
RULES: list[Rule] = []


def rule(place: str) -> Callable[[Callable[[OpenedBundle], Lines]], Callable[[OpenedBundle], Lines]]:
    """Register a rule that comes from this place."""

    def add(problems: Callable[[OpenedBundle], Lines]) -> Callable[[OpenedBundle], Lines]:
        RULES.append(Rule(place, problems))
        return problems

    return add


@rule("src/apps/competitions/tasks.py:382")
def version(bundle: OpenedBundle) -> Lines:
    """Other versions have other keys."""
    if (found := str(bundle.content.get("version", "1"))) != "2":
        yield f"version: expected 2, found {found}"


@rule("src/apps/competitions/models.py:36")
def title(bundle: OpenedBundle) -> Lines:
    """There is a title, and texts fit into the platform's database."""
    if not bundle.content.get("title"):
        yield "no title"
    for key, longest in (("title", 256), ("docker_image", 128), ("contact_email", 256)):
        if len(str(bundle.content.get(key) or "")) > longest:
            yield f"{key}: expected at most {longest} characters"


@rule("src/apps/competitions/unpackers/v2.py:50 and 161, base_unpacker.py:61")
def pages(bundle: OpenedBundle) -> Lines:
    """Logo, terms and pages are files that are not empty."""
    named = [("terms", bundle.content.get("terms")), ("image", bundle.content.get("image"))]
    named += [(f"page {number}: file", page.get("file")) for number, page in enumerate(bundle.content["pages"])]
    for key, path in named:
        if not path:
            yield f"no {key}"
        elif str(path) not in bundle.names:
            yield f"{key}: no file {path!r} in the bundle"
        elif not bundle.archive.getinfo(str(path)).file_size:
            yield f"{key}: {path} is empty"


@rule("src/apps/competitions/unpackers/v2.py:66, base_unpacker.py:35")
def tasks(bundle: OpenedBundle) -> Lines:
    """Tasks have an index of their own, a scoring program, and files that exist."""
    seen: set[object] = set()
    for task in bundle.content["tasks"]:
        name = task.get("name", task.get("index"))
        if "index" not in task:
            yield f"task {name}: no index"
        elif task["index"] in seen:
            yield f"task {name}: another task has index {task['index']}"
        seen.add(task.get("index"))
        if "key" in task:
            continue
        if "scoring_program" not in task:
            yield f"task {name}: no scoring_program"
        yield from (
            f"task {name}: {part}: no file {task[part]!r} in the bundle"
            for part in PARTS if part in task and not bundle.has(task[part])
        )  # fmt: skip


@rule("src/apps/competitions/unpackers/v2.py:110")
def solutions(bundle: OpenedBundle) -> Lines:
    """Solutions have an index, a file, and tasks that exist."""
    for number, solution in enumerate(bundle.content.get("solutions") or ()):
        missing = [key for key in ("index", "tasks", "path") if key not in solution]
        if missing and "key" not in solution:
            yield f"solution {number}: no {', '.join(missing)}"
        elif unknown := set(solution.get("tasks", ())) - bundle.tasks:
            yield f"solution {number}: no task with index {', '.join(map(str, unknown))}"
        elif "path" in solution and not bundle.has(solution["path"]):
            yield f"solution {number}: no file {solution['path']!r} in the bundle"
