-- Herald's outbox: what a transaction of yours sends, Herald delivers exactly once, after the commit.
-- Run this once, as the owner of the database; running it again changes nothing.
CREATE SCHEMA IF NOT EXISTS herald;

-- What was committed and is not sent yet. `id` identifies the send, unless the request has an id of its own.
CREATE TABLE IF NOT EXISTS herald.outbox (
  position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id uuid NOT NULL,
  organization text COLLATE "C" NOT NULL,
  request jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX IF NOT EXISTS outbox_order ON herald.outbox (organization, position);

-- What Herald refused, with the reason as a problem document (RFC 9457). Herald never reads it: keep it, mend it, delete it.
CREATE TABLE IF NOT EXISTS herald.outbox_refused (
  position bigint NOT NULL,
  id uuid PRIMARY KEY,
  organization text NOT NULL,
  request jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  refused_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  problem jsonb NOT NULL
);

-- Sends a body of POST /admin/message or POST /admin/message/system when this transaction commits. Returns the id of the send.
CREATE OR REPLACE FUNCTION herald.send(request jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  send_id uuid := gen_random_uuid();
BEGIN
  IF jsonb_typeof(request) IS DISTINCT FROM 'object'
    OR jsonb_typeof(request -> 'organizationId') IS DISTINCT FROM 'string'
    OR (request ? 'message') = (request ? 'messageSystem')
  THEN
    RAISE EXCEPTION 'herald.send: the request needs an organizationId, and either message or messageSystem'
      USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass the body of POST /admin/message or POST /admin/message/system.';
  END IF;
  INSERT INTO herald.outbox (id, organization, request) VALUES (send_id, request ->> 'organizationId', request);
  -- PostgreSQL prepares no transaction that notifies (PREPARE TRANSACTION); Herald finds its rows by looking, twice a second.
  IF current_setting('herald.notify', true) IS DISTINCT FROM 'off' THEN
    PERFORM pg_notify('herald_outbox', '');
  END IF;
  RETURN coalesce(request -> 'message' ->> 'id', request -> 'messageSystem' ->> 'id', send_id::text);
END
$$;

-- Nobody else may send. Replace the names, and run these for the users of your application and of HERALD_OUTBOX_URL, unless they
-- own all this:
--   GRANT USAGE ON SCHEMA herald TO my_app, my_herald;
--   GRANT EXECUTE ON FUNCTION herald.send(jsonb) TO my_app;
--   GRANT SELECT, DELETE ON herald.outbox TO my_herald;
--   GRANT INSERT ON herald.outbox_refused TO my_herald;
REVOKE ALL ON FUNCTION herald.send(jsonb) FROM PUBLIC;
