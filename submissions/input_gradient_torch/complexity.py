"""The measure of ../input_gradient, in PyTorch."""

import torch
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, Subset


def complexity(model, dataset):
    """Return the logarithm of the mean norm of the loss' gradient with respect to the input.

    A network that fits its examples in flat places of its loss is expected to fit their neighbours as well.
    """
    device = next(model.parameters()).device  # the GPU, if there is one; the dataset stays in host memory
    model.requires_grad_(False)  # only gradients of inputs are needed
    found = []
    for inputs, labels in DataLoader(Subset(dataset, range(min(2048, len(dataset)))), batch_size=256):
        inputs, labels = inputs.to(device).requires_grad_(), labels.to(device)
        # The sum, not the mean: the gradient of one example's loss is then what the example adds to it.
        loss = cross_entropy(model.logits(inputs), labels, reduction="sum")
        (gradients,) = torch.autograd.grad(loss, inputs)
        found.append(gradients.flatten(1).norm(dim=1))
    # Where the training set is fitted well the gradients are tiny, and differ by orders of magnitude.
    return float(torch.log(torch.cat(found).mean() + 1e-30))
