"""Answers with the measures of peers, in their own environment: PyTorch and the libraries imported below.

Each peer is called as its manual says, on batches in memory.
"""

import functools
import logging
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch
from torch import nn

from tests.studies.peers.answering import answer

torch.set_num_threads(1)

#: Examples of a batch. BackPACK took about as long with 32 and, on convolutions, longer or as long with 256.
BATCH = 64

#: Distributions whose versions are reported.
PEERS = ("torch", "backpack-for-pytorch", "curvlinops-for-pytorch", "pyhessian", "captum", "foolbox", "weightwatcher")


def read(file):
    """Return the network and the batches of data."""
    found = np.load(file)
    arrays = [torch.from_numpy(found[f"arr_{i}"].copy()) for i in range(len(found.files) - 2)]
    kernels, parts = arrays[::2], []
    for kernel in kernels[:-2]:
        parts += [nn.Conv2d(kernel.shape[1], kernel.shape[0], 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
    hidden, last = (nn.Linear(*kernel.shape[::-1]) for kernel in kernels[-2:])
    model = nn.Sequential(*parts, nn.Flatten(), hidden, nn.ReLU(), last).eval()
    with torch.no_grad():
        for place, array in zip(model.parameters(), arrays, strict=True):
            place.copy_(array)
    images, labels = torch.from_numpy(found["images"].copy()), torch.from_numpy(found["labels"].astype(np.int64))
    return model, list(zip(images.split(BATCH), labels.split(BATCH), strict=True))


def n_examples(batches):
    return sum(len(labels) for _, labels in batches)


@functools.cache
def extended(model):
    """Return a copy of the model and a loss, both extended by BackPACK; other peers get the original model."""
    import copy

    from backpack import extend

    return extend(copy.deepcopy(model)), extend(nn.CrossEntropyLoss(reduction="sum"))


def followed(model, batches, *extensions):
    """For each batch, run a backward pass and yield the parameters of BackPACK's copy, with the extensions' results."""
    from backpack import backpack

    model, loss = extended(model)
    for images, labels in batches:
        model.zero_grad()
        with backpack(*extensions):
            loss(model(images), labels).backward()
        yield list(model.parameters())


def fisher_trace(model, batches):
    from backpack.extensions import BatchL2Grad

    found = [sum(p.batch_l2.sum() for p in parameters) for parameters in followed(model, batches, BatchL2Grad())]
    return float(sum(found)) / n_examples(batches)


def gsnr(model, batches):
    from backpack.extensions import SumGradSquared

    sums, squares = 0, 0
    for parameters in followed(model, batches, SumGradSquared()):
        sums = sums + torch.cat([p.grad.flatten() for p in parameters])
        squares = squares + torch.cat([p.sum_grad_squared.flatten() for p in parameters])
    mean, square = sums.double() / n_examples(batches), squares.double() / n_examples(batches)
    variance = square - mean**2
    varies = variance > 1e-5 * square
    return -float((mean[varies] ** 2 / variance[varies]).mean())


def trace_of_diagonal(model, batches):
    """Return the trace of the Hessian of a ReLU network, which is that of its generalized Gauss-Newton matrix."""
    from backpack.extensions import DiagGGNExact

    found = [sum(p.diag_ggn_exact.sum() for p in some) for some in followed(model, batches, DiagGGNExact())]
    return float(sum(found)) / n_examples(batches)


def curvlinops_eigenvalue(model, batches):
    from curvlinops import HessianLinearOperator
    from scipy.sparse.linalg import eigsh

    parameters = [p for p in model.parameters() if p.requires_grad]
    loss = nn.CrossEntropyLoss()
    matrix = HessianLinearOperator(model, loss, parameters, batches, check_deterministic=False).to_scipy()
    return float(eigsh(matrix, k=1, which="LA", tol=1e-4, return_eigenvectors=False)[0])


def hessian_of(model, batches):
    from pyhessian import hessian

    torch.manual_seed(0)
    return hessian(model, nn.CrossEntropyLoss(), dataloader=batches, cuda=False)


def pyhessian_eigenvalue(model, batches):
    return float(hessian_of(model, batches).eigenvalues(maxIter=100, tol=1e-4)[0][0])


def pyhessian_trace(model, batches):
    return float(np.mean(hessian_of(model, batches).trace(maxIter=20, tol=0)))


def input_jacobian_norm(model, batches):
    from captum.attr import Saliency

    rows = Saliency(model)
    total = 0.0
    for images, _ in batches:
        slopes = (rows.attribute(images.requires_grad_(), target=label, abs=False) for label in range(10))
        total += float(sum(slope.square().flatten(1).sum(1) for slope in slopes).sqrt().sum())
    return total / n_examples(batches)


def deepfool_margin(model, batches):
    from foolbox import PyTorchModel
    from foolbox.attacks import L2DeepFoolAttack

    wrapped, attack = PyTorchModel(model, bounds=(-1000, 1000)), L2DeepFoolAttack(steps=50, candidates=10)
    total = 0.0
    for images, _ in batches:
        images = images.detach()
        answers = model(images).argmax(1)
        found = attack.run(wrapped, images, answers)
        total += float(((found - images).flatten(1).norm(dim=1) / images.flatten(1).norm(dim=1)).sum())
    return -total / 1.02 / n_examples(batches)


def alpha(model, _batches):
    import weightwatcher

    logging.disable()
    watcher = weightwatcher.WeightWatcher(model=model)
    return float(watcher.get_summary(watcher.analyze())["alpha"])


def normalized_loss(logits, labels):
    logits = logits - logits.mean(1, keepdim=True)
    return nn.functional.cross_entropy(logits / logits.norm(dim=1, keepdim=True), labels)


@torch.no_grad()
def adaptive_sharpness_avg(model, batches):
    """Return the mean rise of the loss over 20 changes per batch, as in section 3 of Andriushchenko et al. 2023."""
    torch.manual_seed(0)
    trained, total = [p.clone() for p in model.parameters()], 0.0
    for images, labels in batches:
        before = normalized_loss(model(images), labels)
        for _ in range(20):
            for p, start in zip(model.parameters(), trained, strict=True):
                p.copy_(start + 0.1 * start.abs() * torch.randn_like(p))
            total += float(normalized_loss(model(images), labels) - before) / 20 * len(labels)
        for p, start in zip(model.parameters(), trained, strict=True):
            p.copy_(start)
    return total / n_examples(batches)


#: Names of what is asked for.
MEASURES = {
    "BackPACK fisher_trace": fisher_trace,
    "BackPACK gsnr": gsnr,
    "BackPACK hessian_trace": trace_of_diagonal,
    "PyHessian hessian_trace": pyhessian_trace,
    "PyHessian hessian_top_eigenvalue": pyhessian_eigenvalue,
    "curvlinops hessian_top_eigenvalue": curvlinops_eigenvalue,
    "captum input_jacobian_norm": input_jacobian_norm,
    "foolbox deepfool_margin": deepfool_margin,
    "weightwatcher alpha": alpha,
    "formula adaptive_sharpness_avg": adaptive_sharpness_avg,
}

if __name__ == "__main__":
    read = functools.cache(read)

    def compute(network, name, n_samples):
        return MEASURES[name](*read(Path(sys.argv[1]) / f"{network}, {n_samples}.npz"))

    answer(compute=compute, versions=lambda: {peer: version(peer) for peer in PEERS})
