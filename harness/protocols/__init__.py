"""Evaluation protocols: ways to study the networks of a task without a submission, each in a package."""

#: Modules that other packages of `harness` may import.
MODULES = ("files", "invariance", "overfit", "subject", "testbed")
