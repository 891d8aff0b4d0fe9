"""The recorded answers of the real provider and of Talos's own validator, all of them."""

import json
import re
from typing import Any

import pytest

from machinery import ConfigError, generate_configuration, parse_configuration, validate
from tests.machinery.golden import CASES, NAMES, arguments, documents
from tests.shared import shared

GENERATED = [case for case in CASES if "documents" in case]
REFUSED = {
    "extra-args-list-value": r"config_patches\[0\].*line 7.*tls-cipher-suites must be text",
    "empty-patch": r"config_patches\[0\].*no such file",
    "comment-only-patch": "JSON patch cannot change a configuration of several documents",
    "json-patch": "JSON patch cannot change a configuration of several documents",
    "error-unknown-key": r"line 3: machine.network.hostnam is not a key",
    "error-wrong-type": r"line 3: machine.install.wipe must be true or false",
    "error-list-for-map": r"line 3: machine.sysctls must be a map",
    "error-unknown-kind": "no document of kind NoSuchConfig",
    "error-bad-yaml": "not YAML",
    "error-duplicate-key": 'line 4: the key "wipe" already stands at line 3',
    "error-tab-indent": "not YAML.*cannot start any token",
    "error-cluster-endpoint-without-scheme": r"no scheme.*https://192\.168\.1\.120:6443",
}
INVALID = {
    "inline-manifests-merge-by-name": 'the name "cilium" stands twice',
    "multi-document-user-volume": "minSize or maxSize is missing",
    "documents-merge-by-kind-and-name": "diskSelector.match is missing",
    "hostname-document-without-auto-off": "auto and hostname exclude each other",
    "hostname-v1alpha1-on-1.13": "machine.network.hostname sets a host name too",
    "hostname-document-on-1.11": "machine.features.stableHostname sets a host name too",
}


def test_the_recording_is_the_one_beside_the_checkout() -> None:
    copy = shared("golden/machine-configuration.json").read_text(encoding="utf-8")
    assert json.loads(copy) == CASES


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_the_configuration_is_the_one_the_provider_makes(case: dict[str, Any]) -> None:
    if "documents" in case:
        assert documents(generate_configuration(arguments(case))) == case["documents"]
    else:
        with pytest.raises(ConfigError) as caught:
            generate_configuration(arguments(case))
        assert re.search(REFUSED[case["name"]], str(caught.value))


@pytest.mark.parametrize("case", GENERATED, ids=[case["name"] for case in GENERATED])
def test_validation_refuses_what_talos_refuses(case: dict[str, Any]) -> None:
    configuration = parse_configuration(generate_configuration(arguments(case)))
    if case["talosctl_validate"] == "ok":
        validate(configuration)
    else:
        with pytest.raises(ConfigError) as caught:
            validate(configuration)
        assert INVALID[case["name"]] in str(caught.value)
        assert len(caught.value.problems) == 1
