"""Gives measures the same access to layers, weights and intermediate outputs of all models of Keras 2 and 3.

`read_nodes` turns a Keras model into plain data (`Nodes`), `fold_scales` rewrites these data, and `Network` runs them.
"""

from baselines.network.applied import in_full_precision
from baselines.network.fold import fold_scales
from baselines.network.free_scales import with_set_scales
from baselines.network.network import Kernel, Network, joined
from baselines.network.nodes import INPUT, Node, Nodes
from baselines.network.output import is_linear, looks_like
from baselines.network.reading import outputs_of, read_nodes
from baselines.network.written import WrittenKernel, written_kernels

__all__ = [
    "INPUT", "Kernel", "Network", "Node", "Nodes", "WrittenKernel", "fold_scales", "in_full_precision", "is_linear",
    "joined", "looks_like", "outputs_of", "read_nodes", "with_set_scales", "written_kernels",
]  # fmt: skip
