import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createECDH, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { eventually } from "../harness/deadline.ts";
import { createAuthority } from "../harness/engines/certificates.ts";
import { hasRegistry } from "../harness/engines/installed.ts";
import { useHerald } from "../harness/servers/herald.ts";
import type { Project } from "../packages/project.ts";
import { installExample, startExample } from "./example.ts";

setDefaultTimeout(120_000);

const herald = useHerald({
  env: { HERALD_DEMO: "1", HERALD_WEBHOOK_ALLOW_PRIVATE: "1" },
  oneNode: "only an empty database gets the demo",
});
const authority = createAuthority();

test("the receiver is as short as its page says", () => {
  const lines = readFileSync(join(import.meta.dir, "../../examples/push/server.js"), "utf8")
    .trimEnd()
    .split("\n");
  expect(lines.filter((line) => line.trim() !== "" && !line.trim().startsWith("//")).length).toBeLessThanOrEqual(70);
});

/** A push service (RFC 8030), and a browser that subscribed to it (RFC 8291). */
function startPushService({ cert, key }: { cert: string; key: string }, project: Project) {
  const browser = createECDH("prime256v1");
  const auth = randomBytes(16);
  const p256dh = browser.generateKeys("base64url");
  const pushes: { headers: Headers; text: string }[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    tls: { cert: Bun.file(cert), key: Bun.file(key) },
    async fetch(request) {
      const { decrypt } = createRequire(join(project.folder, "server.js"))("http_ece");
      const body = Buffer.from(await request.bytes());
      const text = String(decrypt(body, { version: "aes128gcm", privateKey: browser, authSecret: auth }));
      pushes.push({ headers: request.headers, text });
      return new Response(null, { status: 201 });
    },
  });
  const keys = { p256dh, auth: auth.toString("base64url") };
  return {
    subscription: { endpoint: `https://localhost:${server.port}/push/1`, keys },
    pushed: (count: number) => eventually(() => pushes.at(count - 1), "a push"),
    [Symbol.dispose]: () => void server.stop(true),
  };
}

describe.skipIf(!hasRegistry() || authority === undefined)("the example of push notifications", () => {
  let project: Project;
  beforeAll(() => {
    project = installExample("push");
  });
  afterAll(() => {
    project[Symbol.dispose]();
    authority?.[Symbol.dispose]();
  });

  test("a message to a user who is away arrives in the user's browser, encrypted", async () => {
    if (authority === undefined) return;
    const certificate = authority.issue("localhost");
    using service = startPushService(certificate, project);
    const { body: hook } = await herald().admin<{ secret: string }>("PUT", "/admin/organizations/demo/webhooks/push", {
      url: "http://127.0.0.1:9/",
      wait_seconds: 1,
    });
    await using receiver = await startExample(project, ["node", "server.js"], {
      env: { PORT: "0", WEBHOOK_SECRET: hook.secret, NODE_EXTRA_CA_CERTS: authority.caFile },
      address: /http:\/\/127\.0\.0\.1:\d+/,
    });
    await herald().admin("PUT", "/admin/organizations/demo/webhooks/push", {
      url: `${receiver.url}/webhooks/herald`,
      wait_seconds: 1,
    });
    const subscribe = () =>
      fetch(`${receiver.url}/subscriptions`, {
        method: "POST",
        body: JSON.stringify({ uid: "bob", subscription: service.subscription }),
      });
    expect((await subscribe()).status).toBe(204);
    await herald().admin("POST", "/admin/message", {
      organizationId: "demo",
      senderId: "alice",
      message: { cid: "welcome", body: "Your order is on its way. 📦" },
    });
    const { headers, text } = await service.pushed(1);
    expect(JSON.parse(text)).toEqual({ title: "alice", body: "Your order is on its way. 📦", tag: "welcome" });
    expect(headers.get("authorization")).toStartWith("vapid t=");
    expect(headers.has("topic")).toBe(false);
    const expires_at = new Date(Date.now() + 3_600_000).toISOString();
    const x = { title: "Your export is at 60 %" };
    await herald().admin("POST", "/admin/message/system", {
      organizationId: "demo",
      senderId: "alice",
      messageSystem: { uids: ["bob"], keep_days: 1, key: "export 42", expires_at, x },
    });
    const keyed = await service.pushed(2);
    expect(JSON.parse(keyed.text)).toEqual(x);
    expect(keyed.headers.get("topic")).toMatch(/^[\w-]{32}$/);
    expect(Number(keyed.headers.get("ttl"))).toBeWithin(3_500, 3_601);
  });

  test("what Herald has not signed is refused, and the page and its worker are there", async () => {
    await using receiver = await startExample(project, ["node", "server.js"], {
      env: { PORT: "0", WEBHOOK_SECRET: `whsec_${randomBytes(32).toString("base64")}` },
      address: /http:\/\/127\.0\.0\.1:\d+/,
    });
    const post = await fetch(`${receiver.url}/webhooks/herald`, { method: "POST", body: "{}" });
    expect([post.status, await post.text()]).toEqual([401, expect.stringContaining("webhook-id")]);
    for (const body of ["", "{", "{}", '{"uid":"bob"}', '{"uid":"bob","subscription":{"endpoint":"x"}}']) {
      const { status } = await fetch(`${receiver.url}/subscriptions`, { method: "POST", body });
      expect({ body, status }).toEqual({ body, status: 400 });
    }
    const pages = await Promise.all(["/", "/worker.js", "/key", "/none"].map((path) => fetch(receiver.url + path)));
    expect(pages.map(({ status }) => status)).toEqual([200, 200, 200, 404]);
  });
});
