"""Protocols: ways to evaluate the networks of a task without a submission; a package for each."""

#: Modules of this package that other packages may import.
MODULES = ("files", "invariance", "overfit", "subject", "testbed")
