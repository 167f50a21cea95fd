/** Logged if there are keys that this server cannot check. */
export const foreignKeysAdvice =
  "some API keys were created with another server secret and are refused (see docs/how-to/api-keys.md)";

/** Logged when the database has lost events that were delivered. */
export const logBreakAdvice =
  "the database lost events that were already delivered, because a lagging standby took over or a backup was restored; closing the organization's connections, so that its clients reconnect (see docs/how-to/run-a-cluster.md)";

/** Logged for a proxy that the settings do not name. */
export const undeclaredProxyAdvice =
  "a request with X-Forwarded-For came from an address that is not a trusted proxy; if this is your proxy, add it to HERALD_TRUSTED_PROXIES, because until then all clients behind it count as one; otherwise the header is forged, and Herald ignores it (see docs/how-to/run-as-a-service.md)";
