#!/bin/sh
# Run once by the image of PostgreSQL, for a new database. Herald's user is not a superuser, so that row-level security applies to it.
set -eu
psql --set ON_ERROR_STOP=1 --username postgres --set password="$(cat /run/secrets/postgres-password)" <<'SQL'
CREATE ROLE herald LOGIN PASSWORD :'password';
CREATE DATABASE herald OWNER herald;
SQL
