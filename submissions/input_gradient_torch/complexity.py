"""The measure of ../input_gradient, in PyTorch."""

import torch
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, Subset


def complexity(model, dataset):
    """Return the logarithm of the mean norm of the gradient of the loss with respect to the input.

    If the loss hardly changes around the training examples, the network should classify similar examples correctly,
    too.
    """
    device = next(model.parameters()).device  # the GPU, if there is one; the dataset stays in host memory
    model.requires_grad_(False)  # only gradients of inputs are needed
    found = []
    for inputs, labels in DataLoader(Subset(dataset, range(min(2048, len(dataset)))), batch_size=256):
        inputs, labels = inputs.to(device).requires_grad_(), labels.to(device)
        # With respect to one input, the gradient of the sum (not the mean) is the gradient of that example's loss.
        loss = cross_entropy(model.logits(inputs), labels, reduction="sum")
        (gradients,) = torch.autograd.grad(loss, inputs)
        found.append(gradients.flatten(1).norm(dim=1))
    # On a training set that is fitted well, gradients are tiny, and differ between models by orders of magnitude.
    return float(torch.log(torch.cat(found).mean() + 1e-30))
