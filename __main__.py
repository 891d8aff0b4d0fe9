"""One cluster, as the stack file describes it."""

import gc

# Modules and outputs are many, live long and form few cycles: at its defaults the collector takes a third of the
# program's time, and a fifth of that of the imports below.
gc.freeze()
gc.set_threshold(100_000)

import pulumi  # noqa: E402

from components.cluster import Cluster, ClusterArgs  # noqa: E402
from components.plan import prepare  # noqa: E402
from components.sdk import leave_out_debug_lines, require_engine  # noqa: E402


async def main() -> pulumi.Inputs:
    """Load, assemble, export."""
    require_engine()
    plan = prepare(pulumi.Config())
    cluster = Cluster(plan.topology.name, ClusterArgs(plan=plan))
    await cluster.bring_up()
    return {
        "endpoint": plan.topology.endpoint.url,
        "nodes": cluster.nodes,
        "kubeconfig": cluster.kubeconfig,
        "talosconfig": cluster.talosconfig,
    }


leave_out_debug_lines()
pulumi.run(main)
