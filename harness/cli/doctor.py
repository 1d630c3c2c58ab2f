"""`pgdl doctor`: the capabilities of this machine, their consequences, and a remedy for each problem."""

from typing import Any

import click

from harness.cli import as_json, options


@click.command("doctor")
@options.executors
@as_json.option
def command(form: str, **executor: Any) -> int:
    """Inspect this machine, and try its sandbox with small submissions that try to break out of it.

    With --executor, inspect the machines of that executor instead. Exit code 1 if something that `pgdl run` needs is
    missing.
    """
    from harness.api.doctor import BAD, GOOD, WARNING, doctor
    from harness.execution.executors import EXECUTORS
    from harness.tables import wide_console

    console = wide_console(quiet=form == as_json.JSON)
    styles = {GOOD: "green", WARNING: "yellow", BAD: "bold red"}
    findings = []
    name = executor.pop("executor")
    for finding in doctor(name, options.take_parameters(executor, "--executor", name, EXECUTORS)):
        console.print(f"{finding.state:8}", style=styles[finding.state], end="")
        console.print(f"{finding.item:26} {finding.found}")
        if finding.consequence:
            console.print(f"{'':8}{'':26} {finding.consequence}", style="dim")
        findings.append(finding)
    if form == as_json.JSON:
        as_json.show([{name: text.strip() for name, text in finding._asdict().items()} for finding in findings])
    return int(any(finding.state == BAD for finding in findings))
