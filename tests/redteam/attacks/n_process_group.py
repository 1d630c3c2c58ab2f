"""Opens a process group of PyTorch, which listens on a port and would let other machines in."""

import torch

RUNTIME = "torch"
EXPECT = ("EXCEPTION", "FORBIDDEN", "CRASH", "TIMEOUT")


def complexity(model, dataset):
    store = torch.distributed.TCPStore("0.0.0.0", 29511, is_master=True, wait_for_workers=False)
    print(f"BREACH: listening on {store.port}")
    return 0.0
