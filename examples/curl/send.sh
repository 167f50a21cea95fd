#!/bin/sh
# Sends a message with curl alone: safely, and with a wait for its delivery.
# HERALD_ADMIN_API_KEY is an API key; HERALD_URL is the server, if it is not the one of `npm start`.
set -eu
herald=${HERALD_URL:-http://127.0.0.1:7070}
answer=$(mktemp)
headers=$(mktemp)
trap 'rm -f "$answer" "$headers"' EXIT

# post PATH BODY [HEADER]: curl repeats it after 429 and 5xx, when Retry-After says, and after no answer. This is safe because the
# body has an id. Sets `status`; leaves the body in $answer.
post() {
  status=$(curl --silent --show-error --retry 5 --retry-all-errors --max-time 40 \
    --output "$answer" --dump-header "$headers" --write-out '%{http_code}' \
    -H "Admin-Api-Key: $HERALD_ADMIN_API_KEY" -H "Content-Type: application/json" -H "${3:-Accept: application/json}" \
    -d "$2" "$herald$1")
}
header() { tr -d '\r' < "$headers" | grep -i "^$1:" | cut -d ' ' -f 2-; }
member() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" "$answer"; }

# 1. Send. The id is composed of what happened, so that it is the same in each attempt, also of another process.
order='{"organizationId":"demo","senderId":"alice","message":{"id":"order-placed:user-123:order-456","cid":"welcome","body":"Order 456 is placed."}}'
post /admin/message "$order"
echo "sent: $status $(member server_mid)"

# 2. Send the same again, as after an answer that was lost: nothing is sent twice.
post /admin/message "$order"
echo "again: $status replayed=$(header Idempotent-Replayed) $(member server_mid)"

# 3. A refusal: branch on `code`, show `detail`, log `request_id`.
post /admin/message '{"organizationId":"demo","senderId":"mallory","message":{"id":"a","cid":"welcome","body":"Hi"}}'
echo "refused: $status $(member code): $(member detail)"

# 4. Wait up to five seconds, until everyone who is online has it.
post /admin/message '{"organizationId":"demo","senderId":"alice","message":{"id":"order-shipped:user-123:order-456","cid":"welcome","body":"Order 456 is on its way."}}' "Prefer: wait=5"
echo "waited: $status $(header Herald-Delivery)"
