"""Gradients of the loss by the inputs and by the weights, in PyTorch."""

import torch
from torch.utils.data import DataLoader

RUNTIME = "torch"
EXPECT = ("OK",)
VALUE = 1.0


def complexity(model, dataset):
    inputs, labels = next(iter(DataLoader(dataset, batch_size=8)))
    inputs.requires_grad_()
    loss = torch.nn.functional.cross_entropy(model(inputs), labels)
    gradients = torch.autograd.grad(loss, [inputs, *model.parameters()])
    return float(all(gradient is not None for gradient in gradients))
