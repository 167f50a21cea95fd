import { expect, test } from "bun:test";
import { createAdmin } from "../../sdk/admin.ts";
import { createClient } from "../../sdk/client.ts";
import type { WebSocketConstructor } from "../../sdk/connection/websocket.ts";
import { useHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";

const page = "https://app.example.org";
const herald = useHerald({ env: { HERALD_ALLOWED_ORIGINS: page } });

async function setUp() {
  const org = await createOrganization(herald());
  const cid = await org.conversation(["alice", "bob"]);
  const admin = createAdmin({ url: herald().url, key: herald().key });
  const { file_id } = await admin.upload(org.id, "grüße.txt", "hello", { contentType: "text/plain" });
  await org.sent("alice", { cid, attachments: [{ name: "grüße.txt", file_id }, { name: "later.txt" }] });
  const [message] = await org.history(cid);
  return { org, admin, message, file_id, later: message?.attachments[1]?.file_id ?? "" };
}

async function connect(org: string, uid: string, WebSocket?: WebSocketConstructor) {
  const admin = createAdmin({ url: herald().url, key: herald().key });
  const connected = Promise.withResolvers<void>();
  const client = createClient({
    url: herald().url,
    token: async () => (await admin.createToken(org, uid)).token,
    WebSocket,
    timing: { minBackoffMs: 1 },
    onStateChange: (state) => state === "connected" && connected.resolve(),
  });
  client.start();
  await connected.promise;
  return Object.assign(client, { [Symbol.dispose]: () => client.stop() });
}

/** A WebSocket that never opens, as on networks that block them. */
class Blocked {
  addEventListener(type: string, listener: (event: { code: number }) => void) {
    if (type === "close") queueMicrotask(() => listener({ code: 1006 }));
  }
  send() {}
  close() {}
}

const problemOf = (promise: Promise<unknown>) => promise.then(String, ({ status, code }) => `${status} ${code}`);

test("a recipient shows a file by its address, and downloads it, until the message is taken back", async () => {
  const { org, message, file_id, later } = await setUp();
  using bob = await connect(org.id, "bob");
  const url = (await bob.fileUrl(file_id)) ?? "";
  const shown = await fetch(url, { method: "HEAD" });
  expect(["content-type", "content-length"].map((name) => shown.headers.get(name))).toEqual(["text/plain", "5"]);
  expect(await (await bob.download(file_id)).text()).toBe("hello");
  expect(await problemOf(bob.download(later))).toBe("404 file_not_found");
  await org.recalled("alice", message?.cid ?? "", message?._id ?? "");
  expect(await bob.fileUrl(file_id)).toBeUndefined();
  expect((await fetch(url)).status).toBe(404);
});

test("where WebSockets are blocked, files are downloaded with the token, and addresses are refused", async () => {
  const { org, file_id } = await setUp();
  using bob = await connect(org.id, "bob", Blocked);
  expect(bob.transport).toBe("sse");
  expect(await (await bob.download(file_id)).text()).toBe("hello");
  expect(await problemOf(bob.download(Bun.randomUUIDv7()))).toBe("404 file_not_found");
  expect(await problemOf(bob.fileUrl(file_id))).toBe("501 not_supported");
  const gaveUp = bob.download(file_id, { signal: AbortSignal.abort(new Error("enough")) });
  expect(gaveUp).rejects.toThrow("enough");
});

test("pages of allowed origins, and no others, read files with fetch", async () => {
  const { org, file_id } = await setUp();
  using bob = await connect(org.id, "bob");
  const url = (await bob.fileUrl(file_id)) ?? "";
  const asked = {
    Origin: page,
    "Access-Control-Request-Method": "GET",
    "Access-Control-Request-Headers": "authorization",
  };
  const preflight = await fetch(`${herald().url}/files/${file_id}`, { method: "OPTIONS", headers: asked });
  expect([preflight.status, preflight.headers.get("access-control-allow-origin")]).toEqual([204, page]);
  const answer = await fetch(url, { headers: { Origin: page } });
  expect(answer.headers.get("access-control-allow-origin")).toBe(page);
  expect(answer.headers.get("access-control-expose-headers")).toContain("Content-Disposition");
  const foreign = await fetch(url, { headers: { Origin: "https://foreign.example.org" } });
  expect(foreign.headers.get("access-control-allow-origin")).toBeNull();
});
