"""Calls on the machines of a cluster: what runs there, and how the driver speaks to it. Independent of the engine."""

from harness.execution.cluster.executor import Cluster
from harness.execution.cluster.member import ClusterMember
from harness.execution.cluster.messages import is_installed

__all__ = ["Cluster", "ClusterMember", "is_installed"]
