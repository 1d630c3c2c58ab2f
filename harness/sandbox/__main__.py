"""Exits with 0 if a sandbox works here; otherwise prints the reason and the remedy, and exits with 2."""

import sys

from harness.errors import UserError
from harness.sandbox import SandboxChoice

try:
    SandboxChoice().kind(warn=lambda _: None)
except UserError as problem:
    print(problem)
    sys.exit(2)
