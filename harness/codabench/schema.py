"""The description in a bundle, as far as the platform has rules for it; it ignores keys that it does not know.

Comments name the places in revision c7dbc756 of https://github.com/codalab/codabench, below src/apps.
"""

from datetime import date, datetime, time
from itertools import pairwise
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from dateutil.parser import parse  # type: ignore[import-untyped]
from pydantic import BaseModel, BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from harness.toml import require

#: Most elements of a list.
MAX_LIST = 200

#: Which submission of a participant is on the leaderboard (leaderboards/models.py:14).
_Rule = Literal["Add", "Add_And_Delete", "Add_And_Delete_Multiple", "Force_Last", "Force_Latest_Multiple", "Force_Best"]


def _moment(value: object) -> object:
    """Return a time as the platform understands it: without its offset (competitions/unpackers/utils.py:33)."""
    if isinstance(value, datetime) and value.time() != time():
        raise PydanticCustomError("moment", "a time in quotes: of others the platform forgets the hours")
    if isinstance(value, date):
        return datetime.combine(value, time())
    try:
        return parse(value).replace(tzinfo=None) if isinstance(value, str) and value else None
    except (ValueError, OverflowError) as error:
        raise PydanticCustomError("moment", "a time such as '2027-01-31 12:00:00'") from error


_Moment = Annotated[datetime, BeforeValidator(_moment)]
_Count = Annotated[int, Field(ge=0, le=2**31 - 1)]
_Short = Annotated[str, Field(min_length=1, max_length=36)]
_Path = Annotated[str, Field(min_length=1)]
_Index = int | str


class Page(BaseModel):
    """A page (competitions/unpackers/v2.py:50)."""

    file: _Path


class Task(BaseModel):
    """A task, or the key of one that the platform has (competitions/unpackers/v2.py:66)."""

    index: _Index
    name: str = ""
    key: str | None = None
    ingestion_program: _Path | None = None
    scoring_program: _Path | None = None
    input_data: _Path | None = None
    reference_data: _Path | None = None

    @model_validator(mode="after")
    def _has_a_program(self) -> Self:
        require(bool(self.key or self.scoring_program), f"task {self.name or self.index}: scoring_program", "a file")
        return self


class Solution(BaseModel):
    """A sample submission (competitions/unpackers/v2.py:110)."""

    index: _Index
    tasks: list[_Index]
    path: _Path | None = None


class Phase(BaseModel):
    """A phase (competitions/unpackers/v2.py:181)."""

    name: str = Field(min_length=1, max_length=256)
    index: int = 0
    start: _Moment
    end: _Moment | None = None
    tasks: list[_Index] = Field(min_length=1)
    execution_time_limit: _Count = 0
    max_submissions: _Count = 0
    max_submissions_per_day: _Count = 0
    auto_migrate_to_this_phase: bool = False
    public_data: _Path | None = None
    starting_kit: _Path | None = None


class Column(BaseModel):
    """A column of a leaderboard (leaderboards/models.py:59, api/serializers/leaderboards.py:14)."""

    title: _Short
    key: _Short
    index: int
    sorting: Literal["desc", "asc"] = "desc"
    computation: str | None = None
    computation_indexes: list[Any] | None = None

    @model_validator(mode="after")
    def _both(self) -> Self:
        right = (self.computation is not None) == bool(self.computation_indexes)
        require(right, f"column {self.key}", "both of computation and computation_indexes, or none")
        return self


class Leaderboard(BaseModel):
    """A leaderboard."""

    title: str = Field(min_length=1, max_length=64)
    key: _Short
    columns: list[Column] = Field(min_length=1, max_length=MAX_LIST)
    submission_rule: _Rule = "Add"

    @model_validator(mode="after")
    def _different(self) -> Self:
        for key in ("index", "key"):
            different = len({getattr(column, key) for column in self.columns}) == len(self.columns)
            require(different, f"leaderboard {self.key}: columns", f"another {key} for each")
        return self


class Description(BaseModel):
    """The whole file (competitions/tasks.py:382, competitions/models.py:36)."""

    version: Annotated[Literal["2"], BeforeValidator(str)]
    title: str = Field(min_length=1, max_length=256)
    terms: _Path
    image: _Path
    docker_image: str = Field("", max_length=128)
    contact_email: str | None = Field(None, max_length=256, pattern=r"^[\w.+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$")
    queue: UUID | None = None
    pages: list[Page] = Field(min_length=1, max_length=MAX_LIST)
    tasks: list[Task] = Field(min_length=1, max_length=MAX_LIST)
    phases: list[Phase] = Field(min_length=1, max_length=MAX_LIST)
    solutions: list[Solution] = Field([], max_length=MAX_LIST)
    leaderboards: list[Leaderboard] = Field(min_length=1, max_length=MAX_LIST)

    @model_validator(mode="after")
    def _fit(self) -> Self:
        indexes = [task.index for task in self.tasks]
        require(len(set(indexes)) == len(indexes), "tasks", "another index for each")
        named = [index for phase in self.phases for index in phase.tasks]
        unknown = {*named, *(index for solution in self.solutions for index in solution.tasks)} - set(indexes)
        require(not unknown, "tasks of a phase or solution", f"their indexes, found {', '.join(map(str, unknown))}")
        first, *_ = phases = sorted(self.phases, key=lambda phase: phase.index)
        migrates = first.auto_migrate_to_this_phase
        require(not migrates, f"phase {first.name}: auto_migrate_to_this_phase", "no first phase")
        for phase in phases:
            require(phase.end is None or phase.start < phase.end, f"phase {phase.name}: end", "a time after its start")
        for one, after in pairwise(phases):  # (competitions/unpackers/base_unpacker.py:115)
            require(one.end is not None, f"phase {one.name}: end", f"a time, because {after.name} follows")
            in_order = one.end is None or one.end < after.start
            require(in_order, f"phase {after.name}: start", f"a time after the end of {one.name}")
        return self

    def files(self) -> list[str]:
        """Return the paths of all files that it names."""
        parts = ("ingestion_program", "scoring_program", "input_data", "reference_data")
        found = [self.terms, self.image, *(page.file for page in self.pages), *(one.path for one in self.solutions)]
        found += [getattr(task, part) for task in self.tasks for part in parts]
        found += [path for phase in self.phases for path in (phase.public_data, phase.starting_kit)]
        return [path for path in dict.fromkeys(found) if path]
