"""Writes small PyTorch networks: exported_networks.py DIRECTORY NAME... Runs in its own process.

For each network, DIRECTORY/NAME holds `network.pt2`, `inputs.npy` (channels last) and `expected.npy`.
"""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional


class Of(nn.Module):
    """A network made of modules and a function of the modules and the input."""

    def __init__(self, forward: Callable[[Any, Any], Any], **modules: Any) -> None:
        super().__init__()
        for name, module in modules.items():
            setattr(self, name, module)
        self.function = forward

    def forward(self, x: Any) -> Any:
        return self.function(self, x)


def residual(net: Any, x: Any) -> Any:
    y = functional.relu(net.norm(net.first(x)), inplace=True)
    y += net.short(x)
    return net.head(torch.flatten(functional.adaptive_avg_pool2d(y, 2), 1))


def squeezed(net: Any, x: Any) -> Any:
    x = net.first(x)
    weights = torch.sigmoid(net.second(x.mean((2, 3), keepdim=True)))
    return net.head(functional.hardswish(x * weights).mean((2, 3)))


def shuffled(net: Any, x: Any) -> Any:
    x = net.first(x)
    n, channels, height, width = x.shape
    x = x.view(n, 2, channels // 2, height, width).transpose(1, 2).reshape(n, channels, height, width)
    left, right = x.chunk(2, dim=1)
    return net.head(torch.cat([left, net.second(right)], 1).flatten(1))


def transformer(net: Any, x: Any) -> Any:
    x = net.patches(x).flatten(2).transpose(1, 2)
    x = torch.cat([net.token.expand(len(x), -1, -1), x], dim=1) + net.places
    y = net.norm(x)
    x = x + net.attention(y, y, y, need_weights=False)[0]
    return net.head(x[:, 0])


def windows(net: Any, x: Any) -> Any:
    """Attention within windows that are shifted by one, with a bias per position and a mask, as in Swin."""
    x = torch.roll(net.patches(x).permute(0, 2, 3, 1), (-1, -1), (1, 2))
    x = x.view(-1, 2, 2, 2, 2, 8).permute(0, 1, 3, 2, 4, 5).reshape(-1, 4, 8)
    q, k, v = net.qkv(x).reshape(-1, 4, 3, 2, 4).permute(2, 0, 3, 1, 4)
    scores = (q * 0.5) @ k.transpose(-2, -1) + net.bias
    scores = scores.view(-1, 4, 2, 4, 4) + net.mask.unsqueeze(1)
    x = (scores.view(-1, 2, 4, 4).softmax(-1) @ v).transpose(1, 2).reshape(-1, 4, 8)
    x = net.projection(x).view(-1, 2, 2, 2, 2, 8).permute(0, 1, 3, 2, 4, 5).reshape(-1, 4, 4, 8)
    return net.head(net.norm(x).mean((1, 2)))


def cosine(net: Any, x: Any) -> Any:
    """Attention by angles, with a scale for each head, as in Swin V2; written with `einsum`, as in MaxViT."""
    x = net.patches(x).flatten(2).transpose(1, 2)
    q, k, v = net.qkv(x).reshape(-1, 16, 3, 2, 4).permute(2, 0, 3, 1, 4)
    scores = torch.einsum("bhid,bhjd->bhij", functional.normalize(q, dim=-1), functional.normalize(k, dim=-1))
    weights = (scores * net.scale.exp() + net.bias).softmax(-1)
    x = torch.einsum("bhij,bhjd->bhid", weights, v).transpose(1, 2).reshape(-1, 16, 8)
    return net.head(net.projection(x).mean(1))


def mixed(net: Any, x: Any) -> Any:
    x = net.patches(x).flatten(2).transpose(1, 2)
    x = x + net.places(net.norm(x).transpose(1, 2)).transpose(1, 2)
    return net.head(functional.gelu(x, approximate="tanh").mean(1))


def sliced(net: Any, x: Any) -> Any:
    y = functional.pad(net.first(x)[:, :, ::2, 1::2], (0, 0, 0, 0, 1, 1))
    return net.head((-y[:, 1:4] - 2 * y[:, :3] ** 2).flatten(1))


conv = nn.Conv2d
mask = torch.where(torch.rand(4, 4, 4, generator=torch.manual_seed(1)) > 0.7, -100.0, 0.0)

#: Name -> makes a network of four classes for inputs of 3 x 8 x 8.
NETWORKS: dict[str, Callable[[], nn.Module]] = {
    "plain": lambda: nn.Sequential(
        conv(3, 8, 3, stride=2, padding=1), nn.BatchNorm2d(8, eps=0.1), nn.ReLU(), nn.Dropout(0.5), nn.Flatten(),
        nn.Linear(128, 4),
    ),
    "residual": lambda: Of(
        residual, first=conv(3, 8, 3, 2, 1), norm=nn.BatchNorm2d(8), short=conv(3, 8, 1, 2), head=nn.Linear(32, 4)
    ),
    "squeezed": lambda: Of(
        squeezed, first=conv(3, 8, 3, groups=1, dilation=2), second=conv(8, 8, 1), head=nn.Linear(8, 4)
    ),
    "depthwise": lambda: nn.Sequential(
        conv(3, 6, 3, padding=1, groups=3), nn.ReLU6(), conv(6, 4, 1, groups=2), nn.GroupNorm(2, 4), nn.SiLU(),
        nn.Flatten(), nn.Linear(256, 4), nn.Softmax(1),
    ),
    "pools": lambda: nn.Sequential(
        conv(3, 4, 3, padding=1), nn.MaxPool2d(3, 2, 1), nn.AvgPool2d(3, 1, 1), nn.ReLU(),
        nn.MaxPool2d(3, 2, ceil_mode=True), nn.AvgPool2d(3, 2, 1, count_include_pad=False), nn.AdaptiveAvgPool2d(3),
        nn.Flatten(), nn.Linear(36, 4),
    ),
    "activations": lambda: nn.Sequential(
        conv(3, 4, 3), nn.PReLU(4), nn.LeakyReLU(0.3), nn.ELU(0.7), nn.Mish(), nn.Hardswish(), nn.GELU(), nn.Tanh(),
        nn.Flatten(), nn.Linear(144, 4),
    ),
    "shuffled": lambda: Of(shuffled, first=conv(3, 8, 3), second=nn.BatchNorm2d(4), head=nn.Linear(288, 4)),
    "transformer": lambda: Of(
        transformer, patches=conv(3, 8, 4, 4), token=nn.Parameter(torch.randn(1, 1, 8)),
        places=nn.Parameter(torch.randn(1, 5, 8)), norm=nn.LayerNorm(8), head=nn.Linear(8, 4),
        attention=nn.MultiheadAttention(8, 2, batch_first=True),
    ),
    "windows": lambda: Of(
        windows, patches=conv(3, 8, 2, 2), qkv=nn.Linear(8, 24), projection=nn.Linear(8, 8), norm=nn.LayerNorm(8),
        bias=nn.Parameter(torch.randn(2, 4, 4)), mask=nn.Parameter(mask), head=nn.Linear(8, 4),
    ),
    "cosine": lambda: Of(
        cosine, patches=conv(3, 8, 2, 2), qkv=nn.Linear(8, 24), projection=nn.Linear(8, 8), head=nn.Linear(8, 4),
        scale=nn.Parameter(torch.randn(2, 1, 1)), bias=nn.Parameter(torch.randn(2, 16, 16)),
    ),
    "mixed": lambda: Of(
        mixed, patches=conv(3, 8, 2, 2), places=nn.Linear(16, 16), norm=nn.LayerNorm(8), head=nn.Linear(8, 4)
    ),
    "sliced": lambda: Of(sliced, first=conv(3, 2, 1), head=nn.Linear(48, 4)),
    # Refused
    "training": lambda: nn.Sequential(conv(3, 4, 3), nn.BatchNorm2d(4), nn.Flatten(), nn.Linear(144, 4)),
    "shared": lambda: nn.Sequential(*2 * [conv(3, 3, 3, padding=1)], nn.Flatten(), nn.Linear(192, 4)),
    "divided": lambda: Of(lambda net, x: net.head((x / (1 + x.sigmoid())).flatten(1)), head=nn.Linear(192, 4)),
    "mirrored": lambda: nn.Sequential(nn.Identity(), nn.ReflectionPad2d(1), nn.Flatten(), nn.Linear(300, 4)),
    "maps": lambda: nn.Sequential(conv(3, 4, 3)),
}  # fmt: skip


def write(directory: Path, names: Sequence[str]) -> None:
    """Export the named networks, by default all, with weights and statistics as after training."""
    for name in names or NETWORKS:
        torch.manual_seed(0)
        module = NETWORKS[name]().train(name == "training")
        for part in module.modules():
            if isinstance(part, nn.BatchNorm2d):
                part.running_mean.normal_()
                part.running_var.uniform_(0.5, 2)
        inputs = torch.randn(20, 3, 8, 8)
        place = directory / name
        place.mkdir(parents=True)
        torch.export.save(torch.export.export(module, (inputs[:2].clone(),)), place / "network.pt2")
        np.save(place / "inputs.npy", inputs.permute(0, 2, 3, 1).contiguous().numpy())
        np.save(place / "expected.npy", module(inputs).detach().numpy())


if __name__ == "__main__":
    write(Path(sys.argv[1]), sys.argv[2:])
