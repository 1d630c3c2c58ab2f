"""Other ways to evaluate generalization than `complexity(model, dataset)`: one package for each protocol."""

#: The modules that other rooms use.
MODULES = ("files", "invariance", "overfit", "subject", "testbed")
