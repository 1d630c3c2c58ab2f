"""Warns about hidden tasks that `--withhold never` shows in full."""

import functools
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import click
from click.core import ParameterSource

from harness.errors import UserError


def with_warning(option: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a decorator that adds `option` (--withhold). The command then warns if it shows hidden tasks in full."""

    def decorate(command: Callable[..., Any]) -> Any:
        @functools.wraps(command)
        def warned(**asked: Any) -> Any:
            if asked["withhold"] == "never" and (hidden := _hidden_among(asked)):
                from harness.cli.terminal import warn

                source = click.get_current_context().get_parameter_source("withhold")
                never = "PGDL_WITHHOLD=never" if source is ParameterSource.ENVIRONMENT else "--withhold never"
                warn(f"hidden tasks are shown in full, because of {never}: {', '.join(hidden)}")
            return command(**asked)

        return option(warned)

    return decorate


def _hidden_among(asked: Mapping[str, Any]) -> list[str]:
    from harness.task.layout import TaskDirectory, hidden_names

    chosen = [asked["task_name"]] if "task_name" in asked else asked.get("task_names", ())
    found: set[str] = set()
    for root in filter(None, (asked.get("directory") or asked["tasks_dir"], asked.get("reference"))):
        with suppress(UserError):  # the command itself reports a directory or a mark that cannot be read
            found |= hidden_names(TaskDirectory(root).tasks)
    return sorted(name for name in found if not chosen or name in chosen)
