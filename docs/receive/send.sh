#!/usr/bin/env bash
# Sends the event in a file to a receiver of your own, signed as the service signs it. Needs bash, openssl and curl.
#
#   SIGNING_SECRET=whsec_… ./send.sh http://127.0.0.1:3000/webhooks event.json
#
# openssl would take the secret as an argument, which every user of the machine can read while it runs. So the HMAC is
# made here from its two hashes: hash(secret ^ 5c… + hash(secret ^ 36… + timestamp + "." + body)).
set -euo pipefail

url=$1 body=$2 secret=${SIGNING_SECRET:?}
timestamp=$(date +%s)
event_id=$(grep -oE '"id"[[:space:]]*:[[:space:]]*"evt_[^"]*"' "$body" | head -n 1 | cut -d '"' -f 4)
if [[ ! $secret =~ ^whsec_[!-~]{1,58}$ ]]; then
  echo "SIGNING_SECRET is not whsec_ and 1 to 58 visible characters" >&2
  exit 1
fi

# The 64 bytes of the key, each ^ $1.
pad() {
  local at code
  for ((at = 0; at < 64; at++)); do
    code=0
    if ((at < ${#secret})); then printf -v code %d "'${secret:at:1}"; fi
    printf "\\x$(printf %02x $((code ^ $1)))"
  done
}

inner() {
  { pad 0x36 && printf %s. "$timestamp" && cat "$body"; } | openssl dgst -sha256 -binary
}

signature=$({ pad 0x5c && inner; } | openssl dgst -sha256 -r | cut -d ' ' -f 1)
curl --silent --show-error --include --data-binary "@$body" --header 'Content-Type: application/json' \
  --header "Service-Event-Id: $event_id" --header "Service-Timestamp: $timestamp" \
  --header "Service-Signature: v1=$signature" --header 'Service-Version: 2026-09-01' "$url"
