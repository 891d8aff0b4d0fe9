"""One cluster, as the stack file describes it."""

import pulumi

from components.cluster import Cluster, ClusterArgs
from components.plan import prepare

plan = prepare(pulumi.Config())
cluster = Cluster(plan.topology.name, ClusterArgs(plan=plan))

pulumi.export("endpoint", plan.topology.endpoint.url)
pulumi.export("nodes", cluster.nodes)
pulumi.export("kubeconfig", cluster.kubeconfig)
pulumi.export("talosconfig", cluster.talosconfig)
