import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { $ } from "bun";
import { createAdmin } from "../../sdk/admin.ts";
import { readPage } from "../docs/markdown.ts";
import { patternStream } from "../files/pattern.ts";
import { openBatch } from "../harness/clients/batch.ts";
import type { Page } from "../harness/clients/wire.ts";
import { findNginx, startNginx } from "../harness/engines/nginx.ts";
import { useEngines } from "../harness/engines.ts";
import { expectProblem, messageOf } from "../harness/reading/expectations.ts";
import { type Cluster, startCluster } from "../harness/servers/cluster.ts";
import { filesOf } from "../harness/servers/files.ts";
import { callsTo, type Herald, TEST_KEY } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";

setDefaultTimeout(120_000);

const settings = readFileSync("deploy/nginx/herald.conf", "utf8");
const folder = mkdtempSync(join(tmpdir(), "herald-nginx-"));
afterAll(() => rmSync(folder, { recursive: true }));
const engines = await useEngines();
const nginx = findNginx();

/** The settings, for plain HTTP at this address and these nodes. */
function siteOf(address: string, urls: readonly string[]): string {
  const servers = urls.map((url) => `server ${new URL(url).host} max_fails=1 fail_timeout=2s;`).join("\n");
  return settings
    .replace(/(server node-\S+ [^;]+;\s*)+/, `${servers}\n`)
    .replace("listen 443 ssl;", `listen ${address};`)
    .replace(/ssl_certificate\S* [^;]+;/g, "");
}

/** A node as it is reached through the proxy. */
function through(proxy: { url: string }, cluster: Cluster): Herald {
  const { http, admin } = callsTo(proxy.url, { key: TEST_KEY });
  return { ...cluster.node(0).herald, url: proxy.url, http, admin };
}

test("the page shows the file", () => {
  const { blocks } = readPage("docs/how-to/run-a-cluster.md");
  expect(blocks.map(({ text }) => text.trim())).toContain(settings.trim());
});

test.skipIf(engines === undefined || nginx === undefined)(
  "nginx passes sends, sockets, streams, files and batches to two nodes, and sends to the other if one dies",
  async () => {
    if (engines === undefined || nginx === undefined) return;
    const env = () => ({ HERALD_TRUSTED_PROXIES: "127.0.0.1", HERALD_FILES_URL: `file://${join(folder, "files")}` });
    await using cluster = await startCluster({ nodes: 2, ...engines, env });
    const urls = cluster.nodes.map(({ url }) => url);
    await using proxy = await startNginx(nginx, (address) => siteOf(address, urls));
    const herald = through(proxy, cluster);
    const org = await createOrganization(herald);
    const cid = await org.conversation(["alice", "bob", "carol"]);

    using bob = await org.socket("bob");
    using carol = await org.sse("carol");
    const { server_mid } = await org.sent("alice", { cid, body: "through the proxy" });
    expect(messageOf(await bob.next())._id).toBe(server_mid);
    expect(messageOf(await carol.next())._id).toBe(server_mid);

    // Each line is answered before the next is sent.
    const batch = await openBatch(herald);
    for (const id of ["one", "two", "three"]) {
      batch.write({ organizationId: org.id, senderId: "alice", message: { id, cid, body: id } });
      expect(await batch.next()).toMatchObject({ status: 201, ask: { mid: id } });
    }
    batch.end();
    expect(await batch.next()).toBeUndefined();

    // Each piece of a message that grows is heard before the next is sent.
    const admin = createAdmin({ url: proxy.url, key: TEST_KEY });
    const growing = await admin.stream({ organizationId: org.id, senderId: "alice", message: { cid } });
    for (const text of ["one ", "two "]) {
      await growing.write(text);
      await bob.next(({ message_append: piece }) => piece?.text === text, text);
    }
    expect(await growing.done()).toEqual({ success: true, length: 8 });

    const file = await filesOf(org).uploaded("large.bin", patternStream(5_000_000));
    const download = await herald.http<unknown>("GET", `/files/${file.file_id}`, {
      headers: { "Admin-Api-Key": TEST_KEY },
    });
    expect(download.headers.get("content-length")).toBe("5000000");
    const tooLarge = await org.send<unknown>("alice", { cid, body: "x".repeat(1_200_000) });
    expectProblem(tooLarge, 413, "payload_too_large");

    // A client is known by its own address, and what it claims to be is not believed.
    const user = `${proxy.url}${org.path("users", "dave")}`;
    await $`curl -sf --interface 127.0.0.5 -X PUT ${user} -H ${`Admin-Api-Key: ${TEST_KEY}`} -H "X-Forwarded-For: 192.0.2.1" -H "Content-Type: application/json" -d {}`.quiet();
    const audit = await herald.admin<Page<{ address: string; target: { user?: string } }>>(
      "GET",
      `/admin/audit?organization=${encodeURIComponent(org.id)}&operation=putUser`,
    );
    expect(audit.body.items.find(({ target }) => target.user === "dave")?.address).toBe("127.0.0.5");

    const sends = Array.from({ length: 60 }, (_, count) => async () => {
      if (count === 20) await cluster.node(0).kill();
      return (await org.send<unknown>("alice", { id: `m-${count}`, cid, body: String(count) })).status;
    });
    const statuses: number[] = [];
    for (let from = 0; from < sends.length; from += 10)
      statuses.push(...(await Promise.all(sends.slice(from, from + 10).map((send) => send()))));
    expect(statuses).toEqual(Array(60).fill(201));
    const sent = (await org.history(cid)).map(({ body }) => body).filter((body) => /^\d+$/.test(body));
    expect(sent.toSorted()).toEqual(Array.from({ length: 60 }, (_, count) => String(count)).toSorted());
  },
);
