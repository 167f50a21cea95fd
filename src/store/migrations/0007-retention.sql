CREATE TABLE removal (
  org TEXT NOT NULL,
  cid TEXT NOT NULL,
  up_to BIGINT NOT NULL,
  removed_at BIGINT NOT NULL,
  PRIMARY KEY (org, cid)
);

ALTER TABLE event NO FORCE ROW LEVEL SECURITY;

ALTER TABLE conversation NO FORCE ROW LEVEL SECURITY;

INSERT INTO removal (org, cid, up_to, removed_at)
  SELECT e.org, e.cid, MAX(e."offset"), MAX(e.created_at)
  FROM event e LEFT JOIN conversation c ON c.org = e.org AND c.id = e.cid
  WHERE e.cid IS NOT NULL AND (c.id IS NULL OR e."offset" <= c.log_start)
  GROUP BY e.org, e.cid;

ALTER TABLE event FORCE ROW LEVEL SECURITY;

ALTER TABLE conversation FORCE ROW LEVEL SECURITY;

CREATE TABLE retention (
  holder TEXT NOT NULL,
  held_until BIGINT NOT NULL,
  ids_after TEXT NOT NULL
);

INSERT INTO retention (holder, held_until, ids_after) VALUES ('', 0, '');
