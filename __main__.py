"""One cluster, as the stack file describes it."""

import gc

import pulumi

from components.cluster import Cluster, ClusterArgs
from components.plan import prepare

# Outputs are many, live long and form few cycles: at its defaults the collector takes a third of the program's time.
gc.freeze()
gc.set_threshold(100_000)

plan = prepare(pulumi.Config())
cluster = Cluster(plan.topology.name, ClusterArgs(plan=plan))

pulumi.export("endpoint", plan.topology.endpoint.url)
pulumi.export("nodes", cluster.nodes)
pulumi.export("kubeconfig", cluster.kubeconfig)
pulumi.export("talosconfig", cluster.talosconfig)
