import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createClient } from "../../sdk/client.ts";
import { callTool, connectMcp } from "../harness/clients/mcp.ts";
import { openSse } from "../harness/clients/sse.ts";
import type { Problem } from "../harness/clients/wire.ts";
import { findNginx } from "../harness/engines/nginx.ts";
import { type BelowPath, type PathProxy, startBelowPath } from "../harness/servers/below-path.ts";
import { filesOf } from "../harness/servers/files.ts";
import { createOrganization } from "../harness/servers/organization.ts";

setDefaultTimeout(120_000);

const page = "https://app.example.org";
const nginx = findNginx();
const proxies: PathProxy[] = nginx === undefined ? ["none"] : ["none", "keeps it", "removes it"];
const type = (code: string) => `/herald/docs/errors#${code}`;

/** The targets of the links of a page, without those within it. */
function linksOf(html: string): string[] {
  const links = [...html.matchAll(/(?:src|href|data-script|data-index)="([^"#]+)/g)].flatMap(([, link]) => link ?? []);
  return [...new Set(links)].filter((link) => !/^https?:/.test(link));
}

describe.each(proxies)("below /herald (proxy: %s)", (proxy) => {
  let herald: BelowPath;
  beforeAll(async () => {
    herald = await startBelowPath(nginx, proxy, { HERALD_DEMO: "1", HERALD_ALLOWED_ORIGINS: page });
  });
  afterAll(async () => {
    await herald.node.stop();
    await herald[Symbol.asyncDispose]();
  });

  test("the path itself leads to the documentation", async () => {
    for (const path of ["", "/"]) {
      const { status, url } = await fetch(herald.url + path);
      expect([status, url]).toEqual([200, `${herald.url}/docs`]);
    }
  });

  test("every link of the pages leads to what is there", async () => {
    const waiting = ["/herald/docs", "/herald/console", "/herald/console/demo"];
    const seen = new Set(waiting);
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      const answer = await fetch(herald.origin + path);
      expect({ path, status: answer.status }).toEqual({ path, status: 200 });
      if (answer.headers.get("content-type")?.startsWith("text/html") !== true) continue;
      for (const link of linksOf(await answer.text())) {
        expect({ path, link }).toEqual({ path, link: expect.stringMatching(/^\/herald\//) });
        if (!seen.has(link)) waiting.push(link);
        seen.add(link);
      }
    }
    const documents = ["/docs/realtime", "/docs/errors", "/docs/how-to/receive", "/docs/search.json"];
    for (const path of [...documents, "/openapi.json", "/asyncapi.json"]) expect([...seen]).toContain(`/herald${path}`);
  });

  test("tools call below it, and llms.txt leads there", async () => {
    const org = await createOrganization(herald);
    await using mcp = await connectMcp(herald);
    expect(await callTool(mcp.client, "getOrganization", { org: org.id })).toMatchObject({ isError: false });
    expect((await callTool(mcp.client, "getOrganization", { org: "nobody" })).text).toContain("organization_not_found");
    const { text } = await herald.http<string>("GET", "/llms.txt");
    const links = [...text.matchAll(/\]\((.+?)\)/g)].map(([, link = ""]) => link);
    for (const link of links) expect([link, (await fetch(herald.origin + link)).status]).toEqual([link, 200]);
    expect(links).toContain("/herald/docs/how-to/receive.md");
  });

  test("the documents name the path", async () => {
    const { body: openApi } = await herald.http<{ servers: unknown[]; externalDocs: { url: string }; paths: object }>(
      "GET",
      "/openapi.json",
    );
    expect(openApi.servers).toMatchObject([{ url: "/herald" }]);
    expect(openApi.externalDocs.url).toBe("/herald/docs");
    expect(Object.keys(openApi.paths)).toContain("/openapi.json");
    expect(JSON.stringify(openApi)).not.toContain('"/docs');
    const { body: asyncApi } = await herald.http<{ servers: object }>("GET", "/asyncapi.json");
    expect(Object.values(asyncApi.servers)).toEqual([
      expect.objectContaining({ pathname: "/herald" }),
      expect.objectContaining({ pathname: "/herald" }),
    ]);
  });

  test("errors link to their explanation, of calls, streams, sockets and lines", async () => {
    const org = await createOrganization(herald);
    for (const [method, path, code] of [
      ["GET", "/nowhere", "not_found"],
      ["PATCH", "/healthz", "method_not_allowed"],
      ["GET", "/files/any", "unauthorized"],
      ["GET", "/sse", "unauthorized"],
      ["GET", "/ws", "bad_request"],
      ["GET", "/admin/organizations", "unauthorized"],
      ["GET", "/console/assets/none.js", "not_found"],
    ] as const) {
      const answer = await herald.http<Problem>(method, path);
      expect({ path, type: answer.body.type }).toEqual({ path, type: type(code) });
      expect(await (await fetch(herald.origin + answer.body.type)).text()).toContain(`id="${code}"`);
    }
    const lines = { "Admin-Api-Key": herald.key, "Content-Type": "application/x-ndjson" };
    for (const path of ["/admin/message/batch", org.path("import")]) {
      const { text } = await herald.http("POST", path, { body: "{}\n", headers: lines });
      expect({ path, text }).toEqual({ path, text: expect.stringContaining(`"type":"${type("invalid_request")}"`) });
    }
    const head = await fetch(`${herald.url}/nowhere`, { method: "HEAD" });
    const { text, headers } = await herald.http("GET", "/nowhere", { headers: { "X-Request-Id": "one" } });
    expect([head.status, headers.get("content-length")]).toEqual([404, String(Buffer.byteLength(text))]);
  });

  test("messages reach sockets and streams", async () => {
    const org = await createOrganization(herald);
    const cid = await org.conversation(["alice", "bob"]);
    using alice = await org.socket("alice");
    const headers = { Origin: herald.origin, Authorization: `Bearer ${await org.token("bob")}` };
    using bob = await openSse(herald.url, headers, "bob");
    const { server_mid } = await org.sent("alice", { cid, body: "below" });
    for (const listener of [alice, bob]) expect((await listener.next()).message?._id).toBe(server_mid);
  });

  test("signed addresses of files work as they are, and by the SDK; pages of other origins may read them", async () => {
    const org = await createOrganization(herald);
    const { file_id } = await filesOf(org).uploaded("a.txt", "text");
    const cid = await org.conversation(["alice"]);
    await org.sent("alice", { cid, attachments: [{ name: "a.txt", file_id }] });
    using alice = await org.socket("alice");
    const { file_urls = {} } = await alice.request("get_file_urls", { file_ids: [file_id] });
    expect(file_urls[file_id]).toStartWith(`${new URL(herald.url).origin}/herald/files/${file_id}?signature=`);
    const read = await fetch(file_urls[file_id] ?? "", { headers: { Origin: page } });
    expect([await read.text(), read.headers.get("access-control-allow-origin")]).toEqual(["text", page]);
    const connected = Promise.withResolvers<void>();
    const client = createClient({
      url: herald.url,
      token: () => org.token("alice"),
      onStateChange: (state) => state === "connected" && connected.resolve(),
    });
    client.start();
    await connected.promise;
    const url = await client.fileUrl(file_id);
    expect(url).toStartWith(`${herald.url}/files/`);
    expect(await (await fetch(url ?? "")).text()).toBe("text");
    expect(await (await client.download(file_id)).text()).toBe("text");
    client.stop();
  });

  test("Herald itself answers without the path, too, as health checks call it", async () => {
    for (const path of ["/healthz", "/readyz", "/docs", "/console", "/herald/healthz"])
      expect([path, (await herald.node.http("GET", path)).status]).toEqual([path, 200]);
    expect((await herald.node.http("GET", "/heralds/healthz")).status).toBe(404);
  });

  test("what is printed at the start has the path", () => {
    const { origin } = new URL(herald.node.url);
    for (const path of ["/herald", "/herald/console", "/herald/console/demo", "/herald/docs"])
      expect(herald.logs()).toContain(`${origin}${path}\n`);
  });
});

test("with HERALD_ADMIN_PORT, the public address hides the rest below the path, too", async () => {
  await using herald = await startBelowPath(undefined, "none", { HERALD_ADMIN_PORT: "0" });
  for (const path of ["/admin/organizations", "/docs", "/console", "/readyz", "/herald/admin/organizations", ""])
    expect([path, (await herald.admin("GET", path)).status]).toEqual([path, 404]);
  expect((await herald.http("GET", "/healthz")).status).toBe(200);
  expect((await herald.http<Problem>("GET", "/files/any")).body.type).toBe(type("unauthorized"));
});
