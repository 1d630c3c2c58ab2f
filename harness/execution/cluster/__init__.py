"""Calls on the machines of a cluster: the process there, and the driver's messages to it, for any engine."""

from harness.execution.cluster.executor import Cluster
from harness.execution.cluster.member import ClusterMember
from harness.execution.cluster.messages import is_installed

__all__ = ["Cluster", "ClusterMember", "is_installed"]
