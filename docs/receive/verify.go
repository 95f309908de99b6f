// Package receive verifies signed webhooks with Go's standard library alone. Go 1.19 or newer.
package receive

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	tolerance = 300      // seconds, in either direction
	maxBody   = 16 << 20 // bytes
)

// Code is why a delivery is refused: one of the fifteen codes.
type Code string

func (code Code) Error() string { return string(code) }

var (
	usableSecret = regexp.MustCompile(`^whsec_[!-~]{1,506}$`)
	tenDigits    = regexp.MustCompile(`^[0-9]{10}$`)
	eventID      = regexp.MustCompile(`^evt_[0-9A-Za-z_-]{1,124}$`)
	eventType    = regexp.MustCompile(`^[a-z][a-z0-9_]*(\.[a-z0-9_]+)+$`)
	merchantID   = regexp.MustCompile(`^mer_[0-9A-Za-z_-]{1,124}$`)
	slug         = regexp.MustCompile(`^[^\x00-\x1f\x7f-\x{9f}]{1,128}$`)
	// Every escape but halves of surrogate pairs.
	wholeEscape = regexp.MustCompile(
		`\\(?:[^u]|u[0-9a-cA-CefEF]|u[dD][0-7]|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F])`)
)

// Verify returns the event, or a Code as its error.
//
// rawBody is the bytes as they came in, secrets are eight at most. The event is a map because a struct would not do:
// encoding/json fills its fields without regard to case, so that "ID" would overwrite the "id" that was checked. Its
// numbers are json.Number.
func Verify(rawBody []byte, header http.Header, secrets []string, now time.Time) (map[string]any, error) {
	timestamp := value(header, "Service-Timestamp")
	signature := strings.Trim(value(header, "Service-Signature"), " \t")
	switch {
	case len(secrets) > 8:
		return nil, errors.New("at most 8 secrets")
	case len(rawBody) > maxBody:
		return nil, Code("invalid_payload")
	case len(rawBody) == 0:
		return nil, Code("missing_body")
	case !areUsable(secrets):
		return nil, Code("invalid_secret")
	case !tenDigits.MatchString(timestamp):
		return nil, Code("invalid_timestamp")
	case !isFresh(timestamp, now):
		return nil, Code("stale_timestamp")
	case signature == "":
		return nil, Code("missing_signature")
	case !isSigned(signature, timestamp, rawBody, secrets):
		return nil, Code("invalid_signature")
	}
	event, err := parse(rawBody)
	if err == nil {
		err = check(event)
	}
	if err == nil && value(header, "Service-Event-Id") != event["id"] {
		err = Code("event_id_mismatch")
	}
	if err != nil {
		return nil, err
	}
	return event, nil
}

// value joins the lines of one name.
func value(header http.Header, name string) string {
	return strings.Join(header.Values(name), ", ")
}

func areUsable(secrets []string) bool {
	for _, secret := range secrets {
		if !usableSecret.MatchString(secret) {
			return false
		}
	}
	return len(secrets) > 0
}

func isFresh(timestamp string, now time.Time) bool {
	seconds, _ := strconv.ParseInt(timestamp, 10, 64)
	return now.Unix() >= seconds-tolerance && now.Unix() <= seconds+tolerance
}

func isSigned(signature, timestamp string, rawBody []byte, secrets []string) bool {
	if len(signature) > 16384 {
		return false
	}
	found := false
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(timestamp + "."))
		mac.Write(rawBody)
		expected := []byte("v1=" + hex.EncodeToString(mac.Sum(nil)))
		for _, item := range strings.Split(signature, ",") {
			// In constant time; and all are compared, whichever is right.
			equal := hmac.Equal([]byte(strings.Trim(item, " \t")), expected)
			found = equal || found
		}
	}
	return found
}

// parse is json.Unmarshal, without what that accepts beyond the contract: bytes that are not UTF-8, infinite numbers,
// half characters, repeated names.
func parse(rawBody []byte) (map[string]any, error) {
	hasHalf := bytes.ContainsRune(wholeEscape.ReplaceAllLiteral(rawBody, nil), '\\')
	if !utf8.Valid(rawBody) || !json.Valid(rawBody) || hasHalf {
		return nil, Code("invalid_json")
	}
	reader := reader{Decoder: json.NewDecoder(bytes.NewReader(rawBody))}
	reader.UseNumber()
	root, err := reader.read(0, true)
	if err != nil {
		return nil, Code("invalid_json")
	}
	event, isObject := root.(map[string]any)
	if !isObject || reader.repeated {
		return nil, Code("invalid_payload")
	}
	return event, nil
}

type reader struct {
	*json.Decoder
	repeated bool // a name in the root, in merchant or in data
}

// read reads a value inside of depth brackets. isKnown: if it is an object, its names must not be repeated.
func (reader *reader) read(depth int, isKnown bool) (any, error) {
	token, err := reader.Token()
	if err != nil {
		return nil, err
	}
	if number, isNumber := token.(json.Number); isNumber {
		_, err = number.Float64() // an error when a double cannot hold it
		return number, err
	}
	bracket, isBracket := token.(json.Delim)
	if !isBracket {
		return token, nil
	}
	if depth == 127 {
		return nil, errors.New("nested too deeply")
	}
	list, members := []any{}, map[string]any{}
	for reader.More() {
		name := ""
		if bracket == '{' {
			token, _ := reader.Token()
			name, _ = token.(string)
		}
		value, err := reader.read(depth+1, depth == 0 && (name == "merchant" || name == "data"))
		if err != nil {
			return nil, err
		}
		_, isRepeated := members[name]
		reader.repeated = reader.repeated || bracket == '{' && isKnown && isRepeated
		members[name] = value
		list = append(list, value)
	}
	_, err = reader.Token() // the bracket that closes
	if bracket == '[' {
		return list, err
	}
	return members, err
}

// check looks at the members of the envelope, in the order of the codes. Unknown members and unknown types pass.
func check(event map[string]any) error {
	for _, name := range []string{"sequence", "resource_version"} {
		if event[name] != nil && !isInteger(event[name]) {
			return Code("invalid_payload")
		}
	}
	for _, name := range []string{"recipient", "links"} {
		if event[name] != nil && !isObject(event[name]) {
			return Code("invalid_payload")
		}
	}
	if _, isBoolean := event["livemode"].(bool); event["livemode"] != nil && !isBoolean {
		return Code("invalid_payload")
	}
	name, _ := event["type"].(string)
	merchant, _ := event["merchant"].(map[string]any)
	data, _ := event["data"].(map[string]any)
	switch {
	case !matches(event["id"], eventID):
		return Code("invalid_event_id")
	case !matches(event["type"], eventType) || len(name) > 128:
		return Code("invalid_event_type")
	case !isTime(event["api_version"], "2006-01-02"):
		return Code("invalid_api_version")
	case !isTime(event["created_at"], "2006-01-02T15:04:05.000Z"):
		return Code("invalid_created_at")
	case !matches(merchant["id"], merchantID) || !matches(merchant["slug"], slug):
		return Code("invalid_merchant")
	case !isObject(data["object"]):
		return Code("invalid_data")
	}
	return nil
}

func matches(value any, pattern *regexp.Regexp) bool {
	text, isString := value.(string)
	return isString && pattern.MatchString(text)
}

func isObject(value any) bool {
	_, isObject := value.(map[string]any)
	return isObject
}

func isInteger(value any) bool {
	number, _ := value.(json.Number)
	double, err := number.Float64()
	return err == nil && double == math.Trunc(double) && double >= 0 && double < 1<<53
}

// isTime compares with what was read: time.Parse takes other forms, too.
func isTime(value any, layout string) bool {
	text, _ := value.(string)
	moment, err := time.Parse(layout, text)
	return err == nil && moment.Year() >= 1 && moment.Format(layout) == text
}
