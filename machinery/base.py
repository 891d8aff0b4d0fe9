"""The base documents of a machine configuration, before any patch, for contracts 1.10 to 1.13."""

import base64
from typing import Any

from machinery.contract import Contract
from machinery.documents import V1ALPHA1_KIND, Document
from machinery.secrets import Bundle, KeyPair
from machinery.structure import DOCUMENTS, V1ALPHA1
from machinery.urls import go_url

INSTALLER = "ghcr.io/siderolabs/installer:v1.13.0"
_POD_SECURITY = {
    "apiVersion": "pod-security.admission.config.k8s.io/v1alpha1",
    "kind": "PodSecurityConfiguration",
    "defaults": {
        "enforce": "baseline",
        "enforce-version": "latest",
        "audit": "restricted",
        "audit-version": "latest",
        "warn": "restricted",
        "warn-version": "latest",
    },
    "exemptions": {"usernames": [], "runtimeClasses": [], "namespaces": ["kube-system"]},
}
_AUDIT_POLICY = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": [{"level": "Metadata"}]}


def base_documents(
    machine_type: str, cluster_name: str, endpoint: str, kubernetes: str, bundle: Bundle, contract: Contract
) -> list[Document]:
    """Return the documents of a machine type; `kubernetes` is a version without `v`, or empty for no images."""
    controlplane = machine_type == "controlplane"
    machine = _machine(machine_type, kubernetes, bundle, contract)
    cluster = _cluster(cluster_name, endpoint, bundle)
    if controlplane:
        machine["nodeLabels"] = {"node.kubernetes.io/exclude-from-external-load-balancers": ""}
        cluster |= _control_plane(endpoint, kubernetes, bundle, contract)
    values = {"version": V1ALPHA1_KIND, "debug": False, "persist": True, "machine": machine, "cluster": cluster}
    documents = [Document(V1ALPHA1_KIND, V1ALPHA1, values)]
    if contract.after(11):
        hostname = {"apiVersion": "v1alpha1", "kind": "HostnameConfig", "auto": "stable"}
        documents.append(Document("HostnameConfig", DOCUMENTS["HostnameConfig"], hostname))
    return documents


def _machine(machine_type: str, kubernetes: str, bundle: Bundle, contract: Contract) -> dict[str, Any]:
    features: dict[str, Any] = {
        "diskQuotaSupport": True,
        "kubePrism": {"enabled": True, "port": 7445},
        "hostDNS": {"enabled": True, "forwardKubeDNSToHost": True},
    }
    install: dict[str, Any] = {"disk": "/dev/sda", "image": INSTALLER, "wipe": False}
    if contract.after(11):
        install["grubUseUKICmdline"] = True
    else:
        features |= {"rbac": True, "stableHostname": True, "apidCheckExtKeyUsage": True}
    return {
        "type": machine_type,
        "token": bundle.trustd_token,
        "ca": _pair(bundle.os, with_key=machine_type == "controlplane"),
        "kubelet": {
            **_image("ghcr.io/siderolabs/kubelet", kubernetes),
            "defaultRuntimeSeccompProfileEnabled": True,
            "disableManifestsDirectory": True,
        },
        "install": install,
        "features": features,
        **({} if contract.after(12) else {"network": {}}),
    }


def _cluster(cluster_name: str, endpoint: str, bundle: Bundle) -> dict[str, Any]:
    return {
        "id": bundle.cluster_id,
        "secret": bundle.cluster_secret,
        "controlPlane": {"endpoint": go_url(endpoint).text},
        "clusterName": cluster_name,
        "network": {"dnsDomain": "cluster.local", "podSubnets": ["10.244.0.0/16"], "serviceSubnets": ["10.96.0.0/12"]},
        "token": bundle.bootstrap_token,
        "ca": _pair(bundle.k8s, with_key=False),
        "discovery": {"enabled": True, "registries": {"kubernetes": {"disabled": True}}},
    }


def _control_plane(endpoint: str, kubernetes: str, bundle: Bundle, contract: Contract) -> dict[str, Any]:
    api_server: dict[str, Any] = {
        **_image("registry.k8s.io/kube-apiserver", kubernetes),
        "admissionControl": [{"name": "PodSecurity", "configuration": _POD_SECURITY}],
        "auditPolicy": _AUDIT_POLICY,
    }
    if not contract.after(11):
        api_server |= {"certSANs": [go_url(endpoint).hostname], "disablePodSecurityPolicy": True}
    secretbox = bundle.secretbox_encryption_secret
    return {
        **({"secretboxEncryptionSecret": secretbox} if secretbox else {}),
        "ca": _pair(bundle.k8s),
        "aggregatorCA": _pair(bundle.k8s_aggregator),
        "serviceAccount": {"key": _base64(bundle.k8s_service_account.key)},
        "apiServer": api_server,
        "controllerManager": _image("registry.k8s.io/kube-controller-manager", kubernetes),
        "proxy": _image("registry.k8s.io/kube-proxy", kubernetes),
        "scheduler": _image("registry.k8s.io/kube-scheduler", kubernetes),
        "etcd": {"ca": _pair(bundle.etcd)},
    }


def _image(name: str, kubernetes: str) -> dict[str, str]:
    return {"image": f"{name}:v{kubernetes}"} if kubernetes else {}


def _pair(pair: KeyPair, with_key: bool = True) -> dict[str, str]:
    crt = {"crt": _base64(pair.crt)}
    return crt | {"key": _base64(pair.key)} if with_key else crt


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
