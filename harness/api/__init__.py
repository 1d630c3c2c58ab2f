"""The functions behind the commands. The package `pgdl` exports them, and explains their common arguments.

Nothing here prints: a `Progress` shows the work, and a mistake of the user raises a `UserError`.
"""

#: Modules for other rooms.
MODULES = (
    "calls", "check_report", "checks", "ci", "commands", "costs", "finding", "needs", "progress", "starts", "tally",
)  # fmt: skip
