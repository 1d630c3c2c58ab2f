"""Networks of PyTorch: reads what `torch.export` makes of them, and translates it into plain Keras layers."""

#: Modules for other rooms.
MODULES = ("check", "export", "pt2", "translate", "translating")
