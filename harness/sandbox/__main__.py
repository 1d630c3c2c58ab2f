"""Tests whether a sandbox works on this machine. If so, exits with 0; otherwise prints why not, and exits with 2."""

import sys

from harness.errors import UserError
from harness.sandbox import SandboxChoice

try:
    SandboxChoice().kind(warn=lambda _: None)
except UserError as problem:
    print(problem)
    sys.exit(2)
