"""Runs one step of tests/gpu/run in a process, `python gpu_steps.py NAME`, and writes the report of all steps.

A step prints Markdown, and returns one line with its finding. It fails by raising an exception, and is skipped by
raising `Skip`. The last line of the output is the result in JSON. This module needs no package.
"""

import importlib
import json
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass

OK, FAILED, SKIPPED = "ok", "FAILED", "skipped"

#: Begins the last line of a step's output.
RESULT = "RESULT "

#: The steps in their order, the most telling first, because the time is limited.
ORDER = (
    "machine", "doctor", "kinds", "needed_files", "run_torch", "compare_torch", "growth", "host_limit", "kill",
    "traces", "one_of_several", "check_jax", "run_jax", "compare_jax", "check_torch",
)  # fmt: skip


class Skip(Exception):
    """Raised if a step does not apply to this machine; the message says why."""


@dataclass(frozen=True)
class Step:
    run: Callable[[], str]
    title: str
    limit_s: float  #: seconds until it is killed


STEPS: dict[str, Step] = {}


def step(title: str, limit_s: float, name: str = "") -> Callable[[Callable[[], str]], Callable[[], str]]:
    """Return a decorator that registers a function as a step; `ORDER` says when it runs."""

    def register(run: Callable[[], str]) -> Callable[[], str]:
        STEPS[name or run.__name__] = Step(run, title, limit_s)
        return run

    return register


def load_steps() -> None:
    for module in ("gpu_calls", "gpu_machine"):
        importlib.import_module(module)


def require(condition: object, problem: str) -> None:
    if not condition:
        raise RuntimeError(problem)


def perform(name: str) -> tuple[str, str]:
    try:
        return OK, STEPS[name].run()
    except Skip as reason:
        return SKIPPED, str(reason)
    except Exception as error:
        traceback.print_exc()
        return FAILED, f"{type(error).__name__}: {error}"


@dataclass(frozen=True)
class Result:
    title: str
    state: str  #: OK, FAILED or SKIPPED
    finding: str  #: one line; the reason of a skip or a failure
    details: str = ""  #: Markdown
    seconds: float = 0.0


def to_markdown(results: Sequence[Result], begun: str) -> str:
    """Return a table of all steps, then a section with the details of each step."""
    counts = ", ".join(f"{sum(one.state == state for one in results)} {state}" for state in (OK, FAILED, SKIPPED))
    rows = [(one.title, one.state, " ".join(one.finding.split()), f"{one.seconds:.0f}") for one in results]
    sections = [f"\n## {one.title}\n\n{one.details.strip()}\n" for one in results if one.details.strip()]
    begin = f"# Checks on this machine\n\nBegun {begun}. {counts}.\n\n"
    return begin + table(("step", "", "finding", "s"), rows) + "".join(sections)


def block(text: str) -> str:
    return f"```\n{text.strip()}\n```\n"


def table(titles: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    return "".join(f"{line(one)}\n" for one in (titles, ["---"] * len(titles), *rows))


def line(cells: Sequence[object]) -> str:
    texts = (str(cell).strip().replace("|", "\\|").replace("\n", "; ") for cell in cells)
    return f"| {' | '.join(texts)} |"


if __name__ == "__main__":  # runs the step that the command line names, or lists all steps in JSON
    sys.modules["gpu_steps"] = sys.modules["__main__"]  # the steps register themselves here
    load_steps()
    if len(sys.argv) < 2:
        print(json.dumps([[name, STEPS[name].title, STEPS[name].limit_s] for name in ORDER]))
    else:
        print(f"\n{RESULT}{json.dumps(perform(sys.argv[1]))}", flush=True)
