"""Protocols: ways to evaluate the networks of a task without a submission. Each protocol is a package."""

#: Modules for other rooms.
MODULES = ("files", "invariance", "overfit", "subject", "testbed")
