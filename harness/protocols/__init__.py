"""Further ways to evaluate generalization besides `complexity(model, dataset)`: a package for each protocol."""

#: Modules for other rooms.
MODULES = ("files", "invariance", "overfit", "subject", "testbed")
