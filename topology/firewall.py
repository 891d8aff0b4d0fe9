"""Who may open a connection to a node."""

from typing import Annotated

from pydantic import AfterValidator, Field

from topology.model import Model
from topology.values import AnyNetwork, OneOrMany, distinct

Networks = Annotated[tuple[AnyNetwork, ...], OneOrMany(), AfterValidator(distinct)]


class Firewall(Model):
    """The ingress firewall of every node: what is not let in here is dropped.

    The nodes reach each other anyway: the Talos API, trustd, the kubelet, the pod network; only control planes reach
    etcd. The load balancers reach the Kubernetes API, and so do pods.
    """

    talos_api: Networks = Field(min_length=1, examples=["192.0.2.0/24"])
    """Where operators and this program reach the Talos API from. Without it nobody could change a node again."""
    kubernetes_api: Networks = ()
    """Where the Kubernetes API is reached from without the load balancers in between."""
    kubelet: Networks = ()
    """Where kubelets are asked from, such as by monitoring outside of the cluster."""
