"""The functions behind the commands of `pgdl`: arguments in, a result object out. The package `pgdl` exports them.

The command line, a notebook, a job of CI and a service all call them. Nothing here prints: a `Progress` shows the work,
and a mistake of the user raises a `UserError`.
"""

#: Modules for other rooms.
MODULES = (
    "calls", "check_report", "checks", "ci", "commands", "costs", "finding", "needs", "progress", "starts", "tally",
)  # fmt: skip
