"""The functions behind the commands of `pgdl`. The Python package `pgdl` exports them.

No function prints: progress goes to a `Progress`, and a mistake of the user raises a `UserError`.
"""

#: Modules that other packages of `harness` may import.
MODULES = (
    "calls", "check_report", "checks", "ci", "commands", "costs", "finding", "needs", "progress", "starts", "tally",
)  # fmt: skip
