"""What is asked of the Kubernetes API of a cluster: Nodes, and moving pods away from one."""

from kubeapi.client import Client, KubernetesError
from kubeapi.drain import DrainError, drain
from kubeapi.nodes import Node

__all__ = ["Client", "DrainError", "KubernetesError", "Node", "drain"]
