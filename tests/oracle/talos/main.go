// Command talos answers what Talos's own library makes of a machine configuration: one question a line, in JSON, and one
// answer a line, in the same order. It is built once for each release of the library (see the go.mod files beside it).
//
// A question is one of
//
//	{"make": {"clusterName", "endpoint", "kubernetes", "contract", "machineType", "secrets", "disk",
//	          "image"}, "patches": [...]}
//	{"read": "text", "modes": ["metal", "cloud"]}
//	{"structure": ["kinds", ...]}
//
// and an answer {"text", "error", "judgements": {"metal": {"warnings", "error"}}, "kinds", "types"}, with only what there is.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
	"github.com/siderolabs/talos/pkg/machinery/config/configpatcher"
	"github.com/siderolabs/talos/pkg/machinery/config/encoder"
	"github.com/siderolabs/talos/pkg/machinery/config/generate"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"github.com/siderolabs/talos/pkg/machinery/config/machine"
	"github.com/siderolabs/talos/pkg/machinery/config/validation"
	"go.yaml.in/yaml/v4"
)

// longest is the longest question in bytes.
const longest = 64 << 20

type question struct {
	Make      *arguments `json:"make"`
	Patches   []string   `json:"patches"`
	Read      *string    `json:"read"`
	Modes     []string   `json:"modes"`
	Structure []string   `json:"structure"`
}

// arguments are those of the provider's getConfiguration, and what the provider adds; secrets are a secrets.yaml's text.
type arguments struct {
	ClusterName string `json:"clusterName"`
	Endpoint    string `json:"endpoint"`
	Kubernetes  string `json:"kubernetes"`
	Contract    string `json:"contract"`
	MachineType string `json:"machineType"`
	Secrets     string `json:"secrets"`
	Disk        string `json:"disk"`
	Image       string `json:"image"`
}

type answer struct {
	Text       string               `json:"text,omitempty"`
	Error      string               `json:"error,omitempty"`
	Judgements map[string]judgement `json:"judgements,omitempty"`
	Kinds      map[string]string    `json:"kinds,omitempty"`
	Types      map[string]*shape    `json:"types,omitempty"`
}

type judgement struct {
	Warnings []string `json:"warnings,omitempty"`
	Error    string   `json:"error,omitempty"`
}

// mode is what a machine runs on, as validation asks for it.
type mode string

func (m mode) String() string        { return string(m) }
func (m mode) RequiresInstall() bool { return m == "metal" }
func (m mode) InContainer() bool     { return m == "container" }

var _ validation.RuntimeMode = mode("")

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, longest)

	out := bufio.NewWriter(os.Stdout)
	encoded := json.NewEncoder(out)
	encoded.SetEscapeHTML(false)

	for in.Scan() {
		var asked question

		if err := json.Unmarshal(in.Bytes(), &asked); err != nil {
			fail(err)
		}

		if err := encoded.Encode(answerTo(asked)); err != nil {
			fail(err)
		}

		if err := out.Flush(); err != nil {
			fail(err)
		}
	}

	if err := in.Err(); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func answerTo(asked question) answer {
	var found answer

	found.Error = guarded(func() (err error) {
		switch {
		case asked.Make != nil:
			found.Text, err = made(*asked.Make, asked.Patches)
		case asked.Read != nil:
			found.Text, found.Judgements, err = read(*asked.Read, asked.Modes)
		default:
			found.Kinds, found.Types = structure(asked.Structure)
		}

		return err
	})

	return found
}

// guarded returns what goes wrong in a call; the library panics on some input.
func guarded(call func() error) (said string) {
	defer func() {
		if p := recover(); p != nil {
			said = fmt.Sprintf("panic: %v", p)
		}
	}()

	if err := call(); err != nil {
		return "error: " + err.Error()
	}

	return ""
}

func made(args arguments, texts []string) (string, error) {
	input, machineType, err := prepared(args)
	if err != nil {
		return "", err
	}

	base, err := input.Config(machineType)
	if err != nil {
		return "", err
	}

	patches, err := configpatcher.LoadPatches(texts)
	if err != nil {
		return "", err
	}

	patched, err := configpatcher.Apply(configpatcher.WithConfig(base), patches)
	if err != nil {
		return "", err
	}

	result, err := patched.Config()
	if err != nil {
		return "", err
	}

	return encode(result)
}

func prepared(args arguments) (*generate.Input, machine.Type, error) {
	machineType, err := machine.ParseType(args.MachineType)
	if err != nil {
		return nil, machineType, err
	}

	contract, err := config.ParseContractFromVersion(args.Contract)
	if err != nil {
		return nil, machineType, err
	}

	bundle := secrets.Bundle{Clock: secrets.NewClock()}
	if err = yaml.Unmarshal([]byte(args.Secrets), &bundle); err != nil {
		return nil, machineType, err
	}

	input, err := generate.NewInput(
		args.ClusterName, args.Endpoint, args.Kubernetes,
		generate.WithVersionContract(contract), generate.WithSecretsBundle(&bundle),
		generate.WithInstallDisk(args.Disk), generate.WithInstallImage(args.Image),
	)

	return input, machineType, err
}

func encode(provider config.Provider) (string, error) {
	encoded, err := provider.EncodeBytes(encoder.WithComments(encoder.CommentsDisabled))

	return string(encoded), err
}

func read(text string, modes []string) (string, map[string]judgement, error) {
	provider, err := configloader.NewFromBytes([]byte(text))
	if err != nil {
		return "", nil, err
	}

	judged := map[string]judgement{}

	for _, name := range modes {
		var found judgement

		found.Error = guarded(func() (err error) {
			found.Warnings, err = provider.Validate(mode(name), validation.WithLocal())

			return err
		})
		judged[name] = found
	}

	encoded, err := encode(provider)

	return encoded, judged, err
}
