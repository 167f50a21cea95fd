import { describe, expect, test } from "bun:test";
import { createOrganizationUse } from "./organization-use.ts";

function setUp() {
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

describe("a node", () => {
  test("is shared for a second after requests or changes of two organizations", () => {
    const { time, use } = setUp();
    for (let times = 0; times < 2; times++) use.admitRequest("a", 1);
    use.admitChange("a", 0);
    expect(use.isShared()).toBe(false);
    use.admitChange("b", 0);
    expect(use.isShared()).toBe(true);
    time.now = 1_000;
    expect(use.isShared()).toBe(false);
    use.admitRequest("a", 1);
    expect(use.isShared()).toBe(true);
  });

  test("is shared while users of one organization ask for something, and another organization sends", () => {
    const { use } = setUp();
    use.note("a");
    expect(use.isShared()).toBe(false);
    use.admitChange("b", 0);
    expect(use.isShared()).toBe(true);
  });

  test("is not shared by requests that name no organization, or none that there is", () => {
    const { use } = setUp();
    for (const org of ["a", undefined, "nowhere", "a"]) use.admitRequest(org, 1);
    expect(use.isShared()).toBe(false);
  });
});
