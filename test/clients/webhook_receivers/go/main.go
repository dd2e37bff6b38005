// Reads docs/webhook_payloads.json from standard input and parses each payload as programs in Go do. Prints one line
// for each: its name, and the type that the client library chose.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	gitlab "gitlab.com/gitlab-org/api/client-go"
)

type delivery struct {
	Event   string          `json:"event"`
	Payload json.RawMessage `json:"payload"`
}

func parse(one delivery) (any, error) {
	if one.Event == "System Hook" {
		return gitlab.ParseSystemhook(one.Payload)
	}
	return gitlab.ParseWebhook(gitlab.EventType(one.Event), one.Payload)
}

func main() {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		panic(err)
	}
	var all map[string]delivery
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&all); err != nil {
		panic(err)
	}
	for name, one := range all {
		parsed, err := parse(one)
		if err != nil {
			fmt.Printf("%s\tfailed: %v\n", name, err)
			continue
		}
		fmt.Printf("%s\t%T\n", name, parsed)
	}
}
