// Reads deliveries (cases.mjs) from standard input and prints what the sample in Go says of each.
package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"samples/receive"
)

func main() {
	input := bufio.NewReader(os.Stdin)
	for {
		line, err := input.ReadString('\n')
		if err == io.EOF {
			return
		}
		fmt.Println(judge(strings.Split(strings.TrimSuffix(line, "\n"), "\t")))
	}
}

func decode(field string) []byte {
	if field == "-" {
		return nil
	}
	bytes, err := base64.StdEncoding.DecodeString(field)
	if err != nil {
		panic(err)
	}
	return bytes
}

func judge(fields []string) string {
	header := http.Header{}
	for index, name := range []string{"Service-Timestamp", "Service-Signature", "Service-Event-Id"} {
		if value := fields[index+1]; value != "-" {
			header.Set(name, string(decode(value)))
		}
	}
	now, err := strconv.ParseInt(fields[4], 10, 64)
	if err != nil {
		panic(err)
	}
	secrets := []string{}
	if fields[5] != "-" {
		for _, secret := range strings.Split(fields[5], ",") {
			secrets = append(secrets, string(decode(secret)))
		}
	}
	event, err := receive.Verify(decode(fields[0]), header, secrets, time.Unix(now, 0))
	var code receive.Code
	switch {
	case err == nil:
		text, err := json.Marshal(event)
		if err != nil {
			panic(err)
		}
		return "ok\t" + base64.StdEncoding.EncodeToString(text)
	case errors.As(err, &code):
		return string(code)
	}
	return "configuration"
}
