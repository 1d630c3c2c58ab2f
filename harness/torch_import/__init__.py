"""Imports networks of PyTorch: reads files of `torch.export`, and translates their graphs into plain Keras layers."""

#: Modules for other rooms.
MODULES = ("check", "export", "pt2", "translate", "translating")
