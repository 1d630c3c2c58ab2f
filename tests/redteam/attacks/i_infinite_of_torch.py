"""Returns infinity as a tensor of PyTorch that requires gradients."""

import torch

RUNTIME = "torch"
EXPECT = ("BAD_VALUE",)


def complexity(model, dataset):
    return torch.tensor(1.0, requires_grad=True) / 0.0
