#!/bin/sh
# Makes the secrets of cluster.yaml, unless they exist: deploy/compose/secrets/. Only you can open the folder; within it, the
# containers' users must be able to read the files.
set -eu
cd "$(dirname "$0")"
if [ -e secrets ]; then
	echo "secrets/ exists already" >&2
	exit 0
fi
random() { head -c 36 /dev/urandom | base64 | tr '+/' '-_'; }
umask 077
mkdir secrets
umask 022
database=$(random)
bus=$(random)
printf %s "$database" > secrets/postgres-password
cat > secrets/nats.conf <<CONF
http: 127.0.0.1:8222
authorization { user: herald, password: "$bus" }
CONF
cat > secrets/herald.env <<ENV
HERALD_ADMIN_API_KEY=$(random)
HERALD_TOKEN_SECRET=$(random)
HERALD_DATABASE_URL=postgres://herald:$database@postgres/herald
HERALD_BUS_URL=nats://herald:$bus@nats
ENV
echo "made secrets/ with the admin API key in secrets/herald.env"
