"""Makes calls on the machines of a cluster, independently of the engine that connects the machines."""

from harness.execution.cluster.executor import Cluster
from harness.execution.cluster.member import ClusterMember
from harness.execution.cluster.messages import is_installed

__all__ = ["Cluster", "ClusterMember", "is_installed"]
