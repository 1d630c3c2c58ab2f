"""The functions behind the commands of `pgdl`: arguments in, a result object out. The package `pgdl` shows them.

The command line, a notebook, a job of CI and a service are faces of it. Nothing here prints: a `Progress` shows the
work, and mistakes are a `UserError`.
"""

#: The modules that other rooms use.
MODULES = (
    "boards", "calls", "check_report", "checks", "ci", "commands", "costs", "doctor", "execution", "finding", "needs",
    "progress", "reports", "runs", "starts", "tally", "task_sources",
)  # fmt: skip
