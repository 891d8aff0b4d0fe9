"""The invokes that compute configurations: a machine's, and a client's talosconfig."""

from lab.standin.resource import Function, InvokeError, ProviderError
from lab.standin.schema import Failure
from lab.standin.talos import bundle, package
from lab.standin.values import Properties
from machinery import ConfigError, GenerateArgs, generate_configuration, talosconfig

_MACHINE_TYPES = ("controlplane", "worker")
_DEFAULTS: Properties = {"kubernetesVersion": "1.36.0", "talosVersion": "v1.13"}  # of the provider's machinery


class GetConfiguration(Function):
    """``machine.getConfiguration``: the base for a role with the patches merged; it does not validate the result."""

    schema = package.GET_CONFIGURATION

    async def call(self, args: Properties) -> Properties:
        """Generate; the text is a secret that the program has to treat as one."""
        _check(args)
        answer = {**_DEFAULTS, **args}
        try:
            text = generate_configuration(
                GenerateArgs(
                    cluster_name=args["clusterName"],
                    cluster_endpoint=args["clusterEndpoint"],
                    machine_type=args["machineType"],
                    machine_secrets=bundle.from_properties(args["machineSecrets"]),
                    talos_version=answer["talosVersion"],
                    kubernetes_version=answer["kubernetesVersion"],
                    patches=tuple(args.get("configPatches") or ()),
                    docs=args.get("docs", False),
                    examples=args.get("examples", False),
                )
            )
        except ConfigError as error:
            raise ProviderError(f"failed to generate machine configuration: {error}") from error
        return {**answer, "id": args["clusterName"], "machineConfiguration": text}


class GetClientConfiguration(Function):
    """``client.getConfiguration``: a talosconfig with one context."""

    schema = package.GET_CLIENT_CONFIGURATION

    async def call(self, args: Properties) -> Properties:
        """Write it; nothing is checked but that the three parts are base64."""
        _check(args)
        ca, client = bundle.key_pair(args["clientConfiguration"])
        name = args["clusterName"]
        text = talosconfig(name, ca, client, args.get("endpoints") or (), args.get("nodes") or ())
        return {**args, "id": name, "talosConfig": text}


def _check(args: Properties) -> None:
    failures = []
    if not args["clusterName"]:
        told = "Invalid Attribute Value Length: Attribute cluster_name string length must be at least 1, got: 0"
        failures.append(Failure("clusterName", told))
    kind = args.get("machineType", "worker")
    if kind not in _MACHINE_TYPES:
        allowed = " ".join(f'"{known}"' for known in _MACHINE_TYPES)
        told = f'Attribute machine_type value must be one of: [{allowed}], got: "{kind}"'
        failures.append(Failure("machineType", f"Invalid Attribute Value Match: {told}"))
    if failures:
        raise InvokeError(failures)
