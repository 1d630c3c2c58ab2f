"""Protocols: ways to evaluate the networks of a task without a submission; a package for each."""

#: Modules that may be imported from outside this package.
MODULES = ("files", "invariance", "overfit", "subject", "testbed")
