"""Stays in calls of PyTorch, each of many seconds."""

import torch

RUNTIME = "torch"
EXPECT = ("TIMEOUT",)


def complexity(model, dataset):
    matrix = torch.eye(8192)
    while True:
        matrix = matrix @ matrix
