"""Imports networks of PyTorch: reads files of `torch.export`, and translates their graphs into plain Keras layers."""

#: Modules that other packages of `harness` may import.
MODULES = ("check", "export", "pt2", "translate", "translating")
