"""Further ways to evaluate generalization besides `complexity(model, dataset)`: a package for each protocol."""

#: Modules that other rooms may import.
MODULES = ("files", "invariance", "overfit", "subject", "testbed")
