-- expand, 0.1.0
-- What nodes sign with on the bus, the oldest first. The nodes make the first one; whoever adds another has all nodes use it.
CREATE TABLE bus_secret (
  id BIGINT PRIMARY KEY,
  secret TEXT NOT NULL CHECK (LENGTH(secret) >= 32),
  created_at BIGINT NOT NULL
);
