"""Leaves marks in PyTorch and Keras, and looks for those of an earlier call."""

import keras
import torch

RUNTIME = "torch"
EXPECT = ("OK",)
TWICE = True


def complexity(model, dataset):
    for holder in (torch, torch.nn.Module, torch.Tensor, keras, keras.layers.Dense, type(model), type(dataset)):
        if "mark" in vars(holder):
            print(f"BREACH: a mark in {holder}")
        holder.mark = True
    if torch.get_default_dtype() is not torch.float32:
        print("BREACH: a setting of an earlier call")
    torch.set_default_dtype(torch.float64)
    return 1.0
