package cli

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"berth/internal/protocol"
)

// release is set by the linker: -X berth/internal/cli.release=1.2.3. Empty, the
// version is what the Go toolchain recorded.
var release string

// protocols are the formats that two versions of berth meet in, and the number
// of each that this one writes.
var protocols = map[string]int{"socket": protocol.Version}

// versionDocument is `berth version --json`.
type versionDocument struct {
	Version   string         `json:"version"`
	Commit    string         `json:"commit"` // "" when unknown
	Go        string         `json:"go"`
	Platform  string         `json:"platform"`
	Protocols map[string]int `json:"protocols"`
}

func versionVerb(protocols map[string]int) *verb {
	return &verb{
		Name:     "version",
		Short:    "Print the version",
		Long:     "Prints the version of berth and the numbers of the protocols it speaks.",
		Examples: []string{"berth version", "berth version --json"},
		Group:    groupTend,
		Flags:    []cli.Flag{jsonFlag()},
		Run: func(_ context.Context, env *Env, _ *cli.Context) error {
			return printVersion(env, versionOf(protocols))
		},
	}
}

func versionOf(protocols map[string]int) versionDocument {
	doc := versionDocument{
		Version:   "unknown",
		Go:        runtime.Version(),
		Platform:  runtime.GOOS + "/" + runtime.GOARCH,
		Protocols: protocols,
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		doc.Version = info.Main.Version
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				doc.Commit = s.Value
			}
		}
	}
	if release != "" {
		doc.Version = release
	}
	return doc
}

func printVersion(env *Env, doc versionDocument) error {
	if env.JSON {
		return printJSON(env.Out, doc)
	}
	var numbers []string
	for name, n := range doc.Protocols {
		numbers = append(numbers, fmt.Sprintf(", %s protocol %d", name, n))
	}
	slices.Sort(numbers)
	_, err := fmt.Fprintf(env.Out, "berth %s (%s, %s%s)\n", doc.Version, doc.Go, doc.Platform, strings.Join(numbers, ""))
	return err
}
