"""Runs one step of tests/gpu/run in a process: `python gpu_steps.py NAME`.

A step prints Markdown, and returns one line with its finding. It fails by raising an exception, and is skipped by
raising `Skip`. The last line of the output is the result in JSON.
"""

import json
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass

from gpu_report import FAILED, OK, SKIPPED

#: Begins the last line of a step's output.
RESULT = "RESULT "


class Skip(Exception):
    """Raised if a step does not apply to this machine; the message says why."""


@dataclass(frozen=True)
class Step:
    run: Callable[[], str]
    title: str
    limit_s: float  #: seconds until it is killed


STEPS: dict[str, Step] = {}


def step(title: str, limit_s: float, name: str = "") -> Callable[[Callable[[], str]], Callable[[], str]]:
    """Return a decorator that registers a function as a step; `gpu_all_steps.ORDER` says when it runs."""

    def register(run: Callable[[], str]) -> Callable[[], str]:
        STEPS[name or run.__name__] = Step(run, title, limit_s)
        return run

    return register


def perform(name: str) -> tuple[str, str]:
    """Run a step; return its state and finding."""
    try:
        return OK, STEPS[name].run()
    except Skip as reason:
        return SKIPPED, str(reason)
    except Exception as error:
        traceback.print_exc()
        return FAILED, f"{type(error).__name__}: {error}"


def main() -> None:
    """Run the step that the command line names, or list all steps in JSON."""
    from gpu_all_steps import ORDER  # its imports register the steps

    if len(sys.argv) < 2:
        print(json.dumps([[name, STEPS[name].title, STEPS[name].limit_s] for name in ORDER]))
        return
    state, finding = perform(sys.argv[1])
    print(f"\n{RESULT}{json.dumps([state, finding])}", flush=True)


if __name__ == "__main__":
    sys.modules["gpu_steps"] = sys.modules["__main__"]  # the steps register themselves here
    main()
