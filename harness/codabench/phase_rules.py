"""Codabench's own rules for phases and leaderboards."""

from datetime import date, datetime, time

from dateutil.parser import parse  # type: ignore[import-untyped]

from harness.codabench.columns import LONGEST
from harness.codabench.opened import OpenedBundle
from harness.codabench.rules import Lines, rule

#: Which submission of a participant is on the leaderboard.
SUBMISSION_RULES = (
    "Add", "Add_And_Delete", "Add_And_Delete_Multiple", "Force_Last", "Force_Latest_Multiple", "Force_Best",
)  # fmt: skip

#: Longest title of a leaderboard.
LONGEST_TITLE = 64


@rule("src/apps/competitions/unpackers/v2.py:181, src/apps/api/serializers/competitions.py:278")
def phases(bundle: OpenedBundle) -> Lines:
    """Phases have a name, tasks that exist, and files that exist."""
    for number, (name, phase) in enumerate(bundle.phases):
        if not phase.get("name"):
            yield f"phase {name}: no name"
        if not phase.get("tasks"):
            yield f"phase {name}: no tasks"
        elif unknown := set(phase["tasks"]) - bundle.tasks:
            yield f"phase {name}: no task with index {', '.join(map(str, unknown))}"
        for part in ("public_data", "starting_kit"):
            if part in phase and not bundle.has(phase[part]):
                yield f"phase {name}: {part}: no file {phase[part]!r} in the bundle"
        if not isinstance(limit := phase.get("execution_time_limit", 0), int) or limit < 0:
            yield f"phase {name}: execution_time_limit: expected seconds, found {limit!r}"
        if number == 0 and phase.get("auto_migrate_to_this_phase"):
            yield f"phase {name}: auto_migrate_to_this_phase: not in the first phase"


@rule("src/apps/competitions/unpackers/base_unpacker.py:115")
def dates(bundle: OpenedBundle) -> Lines:
    """Each phase starts after the one before has ended."""
    before: tuple[str, datetime | None] | None = None
    for name, phase in bundle.phases:
        try:
            start, end = _moment(phase.get("start")), _moment(phase.get("end"))
        except (ValueError, OverflowError):
            yield f"phase {name}: expected dates such as '2027-01-31 12:00:00'"
            return
        if start is None:
            yield f"phase {name}: no start"
            return
        if end is not None and end <= start:
            yield f"phase {name}: it ends before it starts"
        if before is not None and before[1] is None:
            yield f"phase {before[0]}: no end, but phase {name} follows"
        elif before is not None and before[1] is not None and start <= before[1]:
            yield f"phase {name}: it starts before phase {before[0]} has ended"
        before = name, end


@rule("src/apps/competitions/unpackers/utils.py:33")
def hours(bundle: OpenedBundle) -> Lines:
    """A date that YAML knows as such loses its hours."""
    for name, phase in bundle.phases:
        for key in ("start", "end"):
            value = phase.get(key)
            if isinstance(value, datetime) and value.time() != time():
                yield f"phase {name}: {key}: put it in quotes, or the platform forgets the hours"


@rule("src/apps/leaderboards/models.py:5, src/apps/api/serializers/leaderboards.py:14")
def leaderboards(bundle: OpenedBundle) -> Lines:
    """Leaderboards and their columns have titles, keys and indexes that the platform can take."""
    for board in bundle.content["leaderboards"]:
        name, columns = board.get("key") or board.get("title"), board["columns"]
        for key, longest in (("title", LONGEST_TITLE), ("key", LONGEST)):
            if not 0 < len(str(board.get(key) or "")) <= longest:
                yield f"leaderboard {name}: {key}: expected a text of at most {longest} characters"
            if any(not 0 < len(str(column.get(key) or "")) <= LONGEST for column in columns):
                yield f"leaderboard {name}: {key} of a column: expected a text of at most {LONGEST} characters"
        for key in ("index", "key"):
            if len({column.get(key) for column in columns}) < len(columns):
                yield f"leaderboard {name}: columns: expected another {key} for each"
        if board.get("submission_rule", "Add") not in SUBMISSION_RULES:
            yield f"leaderboard {name}: submission_rule: expected one of {', '.join(SUBMISSION_RULES)}"
        if any(column.get("sorting", "desc") not in ("desc", "asc") for column in columns):
            yield f"leaderboard {name}: sorting of a column: expected desc or asc"
        if any(("computation" in column) != bool(column.get("computation_indexes")) for column in columns):
            yield f"leaderboard {name}: a column has one of computation and computation_indexes without the other"


def _moment(value: object) -> datetime | None:
    """Return a date as the platform understands it: without its offset, or, if YAML knows it as one, its hours."""
    if not value:
        return None
    if isinstance(value, date):
        return datetime.combine(value, time())
    moment: datetime = parse(str(value))
    return moment.replace(tzinfo=None)
