"""Prints ten measures of a module as JSON: name -> [the library's value, the value computed in PyTorch by hand].

`random` has its values for the labels as a column and as one-hot rows, which must be equal.
"""

import copy
import json
from typing import Any

import torch
from torch import nn
from torch.nn import functional
from torch.nn.utils.fusion import fuse_conv_bn_eval

import pgdl


def trained() -> tuple[nn.Module, nn.Module, torch.Tensor, torch.Tensor]:
    """Return a trained network, a copy of it from before training, and data."""
    torch.manual_seed(0)
    module = nn.Sequential(
        nn.Conv2d(3, 4, 3, padding=1, stride=2), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(36, 4)
    )
    start = copy.deepcopy(module).eval()
    inputs, labels = torch.randn(120, 3, 6, 6), torch.arange(120) % 4
    optimizer = torch.optim.SGD(module.parameters(), 0.5)
    for _ in range(40):
        optimizer.zero_grad()
        functional.cross_entropy(module(inputs), labels).backward()
        optimizer.step()
    return module.eval(), start, inputs, labels


def kernels(module: Any) -> list[torch.Tensor]:
    """Return the kernels as matrices (outputs, other axes), with batch normalization folded in."""
    return [fuse_conv_bn_eval(module[0], module[1]).weight.detach().flatten(1), module[4].weight.detach()]


def hessian(module: Any, inputs: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Return the Hessian of the loss in all parameters."""
    shapes = {name: parameter.shape for name, parameter in module.named_parameters()}
    vector = torch.cat([parameter.detach().flatten() for parameter in module.parameters()])

    def loss(flat: torch.Tensor) -> torch.Tensor:
        parts = torch.split(flat, [shape.numel() for shape in shapes.values()])
        values = {name: part.view(shape) for (name, shape), part in zip(shapes.items(), parts, strict=True)}
        return functional.cross_entropy(torch.func.functional_call(module, values, inputs), labels)

    found: torch.Tensor = torch.autograd.functional.hessian(loss, vector)
    return found


def by_hand(module: Any, start: Any, inputs: torch.Tensor, labels: torch.Tensor) -> dict[str, float]:
    """Return measure -> value, computed from the measures' definitions."""
    matrices, before = kernels(module), kernels(start)
    squares = torch.stack([matrix.square().sum() for matrix in matrices])
    largest = torch.stack([torch.linalg.matrix_norm(matrix, 2).square() for matrix in matrices])
    logits = module(inputs).detach()
    own = logits.gather(1, labels[:, None])[:, 0]
    others = logits.scatter(1, labels[:, None], -torch.inf).max(dim=1).values
    jacobians = torch.func.vmap(torch.func.jacrev(lambda x: module(x[None])[0]))(inputs).flatten(1)
    curvature = hessian(module, inputs, labels)
    found = {
        "num_params": sum(matrix.numel() for matrix in matrices),
        "l2_norm": squares.sum().sqrt(),
        "log_prod_of_fro": squares.log().sum(),
        "log_prod_of_spec": largest.log().sum(),
        "l2_dist": sum((new - old).square().sum() for new, old in zip(matrices, before, strict=True)) ** 0.5,
        "neg_output_margin": -(own - others).sort().values[len(labels) // 10 - 1],
        "cross_entropy": functional.cross_entropy(logits, labels),
        "input_jacobian_norm": jacobians.norm(dim=1).mean(),
        "hessian_trace": curvature.trace(),
        "hessian_top_eigenvalue": torch.linalg.eigvalsh(curvature)[-1],
    }
    return {name: float(value) for name, value in found.items()}


def main() -> None:
    module, start, inputs, labels = trained()
    expected = by_hand(module, start, inputs, labels)
    module.initial_weights = start.state_dict()
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(inputs, labels), batch_size=50)
    rows = pgdl.measures(module, loader, list(expected))
    one = pgdl.measure("cross_entropy")(module, (inputs.numpy(), labels.numpy()))
    values = {row["measure"]: [row["value"], expected[row["measure"]]] for row in rows}
    column, one_hot = labels[:, None], functional.one_hot(labels)
    again = [pgdl.measure("random")(module, (inputs, given)) for given in (column, one_hot)]
    print(json.dumps(values | {"in a line": [one, expected["cross_entropy"]], "random": again}))


if __name__ == "__main__":
    main()
