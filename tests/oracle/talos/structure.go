package main

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/config/config"
	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
	"github.com/siderolabs/talos/pkg/machinery/config/configpatcher"
	"go.yaml.in/yaml/v4"
)

// shape is what the library's types say about one type.
type shape struct {
	// Kind is what Go calls it: struct, slice, map, ptr, string and so on.
	Kind string `json:"kind"`
	// Name is the type's own name with its package, where it has one.
	Name string `json:"name,omitempty"`
	// Of is the name in the answer's types of what a pointer, a list or a map holds.
	Of string `json:"of,omitempty"`
	// Key is that of a map's keys.
	Key string `json:"key,omitempty"`
	// Fields are those of a struct that stand in YAML, in order.
	Fields []field `json:"fields,omitempty"`
	// Does lists what the type does in its own way: yaml and text (reading), merge, zero (being left out).
	Does []string `json:"does,omitempty"`
	// Named and Conflicts are about documents.
	Named     bool     `json:"named,omitempty"`
	Conflicts []string `json:"conflicts,omitempty"`
}

type field struct {
	Go      string   `json:"go"`
	Key     string   `json:"key"`
	Type    string   `json:"type"`
	Options []string `json:"options,omitempty"`
	Merge   string   `json:"merge,omitempty"`
}

type (
	readsYAML interface{ UnmarshalYAML(*yaml.Node) error }
	obsolete  interface {
		UnmarshalYAML(func(any) error) error
	}
	merges interface{ Merge(any) error }
)

// structure returns the types of the documents of those kinds that the library knows, and all that they are made of.
func structure(kinds []string) (map[string]string, map[string]*shape) {
	found, types := map[string]string{}, map[string]*shape{}

	for _, kind := range kinds {
		document := documentOf(kind)
		if document == nil {
			continue
		}

		of := reflect.TypeOf(document).Elem()
		found[kind] = describe(of, types)
		described := types[found[kind]]
		_, described.Named = document.(config.NamedDocument)

		if conflicting, ok := document.(config.ConflictingDocument); ok {
			described.Conflicts = conflicting.ConflictsWithKinds()
		}
	}

	return found, types
}

func documentOf(kind string) config.Document {
	text := fmt.Sprintf("apiVersion: v1alpha1\nkind: %s\n", kind)
	if kind == "v1alpha1" {
		text = "version: v1alpha1\nmachine: {}\n"
	}

	provider, err := configloader.NewFromBytes([]byte(text))
	if err != nil {
		return nil
	}

	// A patch's documents are the library's own types.
	return configpatcher.NewStrategicMergePatch(provider).Documents()[0]
}

func describe(of reflect.Type, types map[string]*shape) string {
	name := of.String()
	if _, ok := types[name]; ok {
		return name
	}

	described := &shape{Kind: of.Kind().String(), Does: abilities(of)}
	types[name] = described

	if of.PkgPath() != "" {
		described.Name = name
	}

	switch of.Kind() {
	case reflect.Map:
		described.Key = describe(of.Key(), types)
		described.Of = describe(of.Elem(), types)
	case reflect.Pointer, reflect.Slice, reflect.Array:
		described.Of = describe(of.Elem(), types)
	case reflect.Struct:
		described.Fields = fields(of, types)
	}

	return name
}

func fields(of reflect.Type, types map[string]*shape) []field {
	var found []field

	for i := range of.NumField() {
		each := of.Field(i)
		tag, ok := each.Tag.Lookup("yaml")

		if !ok || tag == "-" || !each.IsExported() && !each.Anonymous {
			continue
		}

		key, options, _ := strings.Cut(tag, ",")
		if key == "" && !strings.Contains(options, "inline") {
			key = strings.ToLower(each.Name)
		}

		found = append(found, field{
			Go: each.Name, Key: key, Type: describe(each.Type, types),
			Options: slices.DeleteFunc(strings.Split(options, ","), func(option string) bool { return option == "" }),
			Merge:   each.Tag.Get("merge"),
		})
	}

	return found
}

func abilities(of reflect.Type) []string {
	var found []string

	pointer := reflect.PointerTo(of)

	for _, each := range []struct {
		name string
		does reflect.Type
	}{
		{"yaml", reflect.TypeFor[readsYAML]()},
		{"yaml", reflect.TypeFor[obsolete]()},
		{"text", reflect.TypeFor[encoding.TextUnmarshaler]()},
		{"merge", reflect.TypeFor[merges]()},
		{"zero", reflect.TypeFor[interface{ IsZero() bool }]()},
	} {
		if pointer.Implements(each.does) {
			found = append(found, each.name)
		}
	}

	return found
}
