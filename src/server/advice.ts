/** What the log says of keys that this server cannot check. */
export const foreignKeysAdvice =
  "some API keys were created with another server secret and are refused (see docs/how-to/api-keys.md)";

/** What the log says when the database has lost events that were delivered. */
export const logBreakAdvice =
  "the database lost events that were already delivered, because a lagging standby took over or a backup was restored; closing the organization's connections, so that its clients reconnect (see docs/how-to/run-a-cluster.md)";
