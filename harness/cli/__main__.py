"""`python -m harness.cli` is `pgdl`."""

from harness.cli.main import main

main()
