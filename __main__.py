"""One cluster, as the stack file describes it."""

import gc

import pulumi

from components.cluster import Cluster, ClusterArgs
from components.plan import prepare

# Outputs are many, live long and form few cycles: at its defaults the collector takes a third of the program's time.
gc.freeze()
gc.set_threshold(100_000)


async def main() -> pulumi.Inputs:
    """Load, assemble, export."""
    plan = prepare(pulumi.Config())
    cluster = Cluster(plan.topology.name, ClusterArgs(plan=plan))
    await cluster.bring_up()
    return {
        "endpoint": plan.topology.endpoint.url,
        "nodes": cluster.nodes,
        "kubeconfig": cluster.kubeconfig,
        "talosconfig": cluster.talosconfig,
    }


pulumi.run(main)
