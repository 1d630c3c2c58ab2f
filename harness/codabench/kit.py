"""What participants download: a template that works, the public tasks, and how to try a measure on them."""

from collections.abc import Mapping, Sequence

from harness.codabench.archives import Content
from harness.codabench.phases import PlannedPhase
from harness.codabench.settings import inputs_of
from harness.format.layout import REFERENCE, REFERENCES
from harness.submission.template import template
from harness.task import DEFAULT_DIRECTORY
from harness.worker.runtimes import DEFAULT

_README = """\
# Starting kit

`complexity.py` is a commented template of a submission, and works as it is. To try it, install pgdl-harness and run, in
this directory:

```sh
{commands}
```

To hand it in, pack `complexity.py`, `metadata` and other files that it needs into a zip archive, and upload that:

```sh
zip submission.zip complexity.py metadata
```
"""


def solution() -> Mapping[str, Content]:
    """Return the members of the sample submission."""
    return {name: text.encode() for name, text in template("template", DEFAULT).items()}


def starting_kit(phases: Sequence[PlannedPhase]) -> Mapping[str, Content]:
    """Return the members of the starting kit: of hidden phases it has the public task that checks submissions."""
    tasks = {task.name: task for one in phases for task in one.tasks}
    found = dict(solution())
    for task in tasks.values():
        assert task.reference is not None, "checked before"
        found |= {f"{DEFAULT_DIRECTORY}/{name}": file for name, file in inputs_of(task).items()}
        found[f"{DEFAULT_DIRECTORY}/{REFERENCES}/{task.name}/{REFERENCE}"] = task.reference
    limit = min(one.phase.time_limit for one in phases)
    commands = ["pgdl check .", f"pgdl run . --time-limit {limit:g}", "pgdl score"]
    return found | {"README.md": _README.format(commands="\n".join(commands)).encode()}
