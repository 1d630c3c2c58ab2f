"""The functions of the Python package `pgdl`, which are also the functions behind the commands.

No function prints: progress goes to a `Progress`, and a mistake of the user raises a `UserError`.
"""

#: Modules that other packages of `harness` may import.
MODULES = (
    "calls", "check_report", "checks", "ci_files", "commands", "costs", "doctor", "needs", "progress", "starts",
    "tally",
)  # fmt: skip
