import { createOrganizationUse } from "./organization-use.ts";

function _setUp() {
  const time = { now: 0 };
  const unlimited = { requestsPerSecond: 0, messagesPerSecond: 0, storedBytes: 0, connections: 0 };
  const use = createOrganizationUse({
    limits: {
      know: () => undefined,
      limitsOf: () => unlimited,
      storedBytesOf: (org) => (org === "nowhere" ? undefined : 0),
      reserve: () => () => undefined,
    },
    checks: { check: () => Promise.reject(new Error("not asked")) },
    burstSeconds: 2,
    clock: { now: () => time.now },
  });
  return { time, use };
}
