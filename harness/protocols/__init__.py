"""Other ways to evaluate generalization than `complexity(model, dataset)`: one package for each protocol."""
