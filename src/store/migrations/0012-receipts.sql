-- expand, 0.1.0
-- A receipt is a row for one event and one user (`connections` 1). Those of versions before gather several (`connections` 0): a
-- report looks for them here, and retention turns them into such rows.
CREATE INDEX CONCURRENTLY delivery_gathered ON delivery (org, cid, "offset") WHERE kind = 'receipt' AND connections = 0;
