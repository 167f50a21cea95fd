import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { freePort } from "../harness/engines/free-port.ts";
import { hasRegistry } from "../harness/engines/installed.ts";
import { secondsSince, useNewcomer } from "./newcomer.ts";

setDefaultTimeout(180_000);

describe.skipIf(!hasRegistry())("a newcomer with the page on push notifications and an empty folder", () => {
  const port = String(freePort());
  const { run, step } = useNewcomer("docs/how-to/push-notifications.md", {
    env: { PORT: port },
    addresses: { "127.0.0.1:3000": `127.0.0.1:${port}` },
  });

  test("sees who was not reached, in a call that Herald has signed", async () => {
    const beganAt = performance.now();
    await run(step("server")).waitFor(/"msg":"listening"/, 30_000);
    const backend = run(step("webhook"), step("receiver"));
    await backend.waitFor(/listening on/, 90_000);
    const sentAt = performance.now();
    expect(await run(step("send")).ended).toBe(0);
    await backend.waitFor(/^message\.unreached: .*bob/m, 30_000);
    console.log(
      `the first signed call: ${secondsSince(beganAt)} s from the first step, ${secondsSince(sentAt)} s from the send`,
    );
  });
});
