"""Networks of PyTorch: reads what `torch.export` makes of them, and translates it into plain Keras layers."""

#: The modules that other rooms use.
MODULES = ("check", "export", "pt2", "translate", "translating")
