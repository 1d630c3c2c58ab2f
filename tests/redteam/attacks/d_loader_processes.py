"""Starts far more worker processes of PyTorch's data loader than the limit allows."""

from torch.utils.data import DataLoader

RUNTIME = "torch"
EXPECT = ("EXCEPTION", "FORBIDDEN", "MEMORY", "TIMEOUT")


def complexity(model, dataset):
    batches = list(DataLoader(dataset, num_workers=2000))
    print("BREACH: 2,000 processes")
    return float(len(batches))
