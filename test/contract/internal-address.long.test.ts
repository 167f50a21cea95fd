import { describe, expect, test } from "bun:test";
import type { Node } from "../harness/clients/wire.ts";
import { freePort } from "../harness/engines/free-port.ts";
import { expectProblem } from "../harness/reading/expectations.ts";
import { filesOf } from "../harness/servers/files.ts";
import { callsTo, type Herald, runHerald, startHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";

/** Starts a node with an internal address, and returns it as it is called there. */
async function startTwofold(env: Record<string, string> = {}): Promise<{ node: Herald; internal: Herald }> {
  const port = String(freePort());
  const node = await startHerald({ env: { HERALD_ADMIN_PORT: port, ...env } });
  return { node, internal: { ...node, ...callsTo(`http://127.0.0.1:${port}`, node) } };
}

describe("with HERALD_ADMIN_PORT", () => {
  test("the public address has sockets, streams and /healthz, and nothing else, whatever the key", async () => {
    const { node, internal } = await startTwofold();
    await using _node = node;
    for (const path of [
      ...["/", "/admin/organizations", "/admin/self", "/readyz", "/metrics", "/console", "/console/demo", "/docs"],
      ...[
        "/mcp",
        "/llms.txt",
        "/docs/how-to/receive.md",
        "/openapi.json",
        "/asyncapi.json",
        "/healthz/",
        "/%68ealthz",
        "//readyz",
        "/healthz/../readyz",
      ],
    ]) {
      for (const method of ["GET", "POST"])
        expectProblem(await node.admin(method, path, method === "POST" ? {} : undefined), 404, "not_found");
    }
    expect((await node.http("GET", "/healthz")).status).toBe(200);
    for (const path of ["/readyz", "/metrics", "/docs", "/openapi.json", "/healthz"])
      expect((await internal.http("GET", path)).status).toBe(200);
    expect(node.logLines()).toContainEqual(
      expect.objectContaining({ msg: "listening", url: node.url, admin_url: internal.url }),
    );
  });

  test("a message sent there reaches sockets and streams of both addresses, once", async () => {
    const { node, internal } = await startTwofold();
    await using _node = node;
    const inside = await createOrganization(internal);
    const outside = await createOrganization({ ...internal, url: node.url }, inside.id); // calls inside, connects outside
    const cid = await inside.conversation(["alice", "bob", "carol"]);
    using alice = await inside.socket("alice");
    using bob = await outside.socket("bob");
    using carol = await outside.sse("carol");
    const { server_mid } = await inside.sent("alice", { cid, body: "to all of them" });
    for (const listener of [alice, bob, carol])
      expect(await listener.next()).toMatchObject({ message: { _id: server_mid } });
    await inside.expectNothingElse(alice, bob, carol);
    await node.stop();
    for (const socket of [alice, bob]) expect((await socket.closed).code).toBe(1012);
  });

  test("files are downloaded from the public address, by users and by keys, and uploaded inside only", async () => {
    const { node, internal } = await startTwofold();
    await using _node = node;
    const inside = await createOrganization(internal);
    const outside = await createOrganization({ ...internal, url: node.url, http: node.http }, inside.id);
    const { file_id } = await filesOf(inside).uploaded("a.txt", "text");
    const cid = await inside.conversation(["alice", "bob"]);
    await inside.sent("alice", { cid, attachments: [{ name: "a.txt", file_id }] });
    const bearer = { Authorization: `Bearer ${await inside.token("bob")}` };
    using bob = await outside.socket("bob");
    const { file_urls = {} } = await bob.request("get_file_urls", { file_ids: [file_id] });
    const { origin, pathname, search } = new URL(file_urls[file_id] ?? "");
    expect(origin).toBe(node.url);
    for (const { http } of [node, internal]) {
      expect((await http("GET", pathname + search)).text).toBe("text");
      expect((await http("GET", `/files/${file_id}`, { headers: bearer })).text).toBe("text");
      expect((await http("GET", `/files/${file_id}`, { headers: { "Admin-Api-Key": node.key } })).text).toBe("text");
      expectProblem(await http("GET", `/files/${file_id}`), 401, "unauthorized");
    }
    for (const path of ["/files", "/files/", `/files/${file_id}/`, `/files/../admin/self`, `/files/%2e%2e/readyz`])
      expectProblem(await node.admin("GET", path), 404, "not_found");
    for (const method of ["POST", "PUT", "DELETE"])
      expectProblem(await node.admin(method, `/files/${file_id}`), 405, "method_not_allowed");
    const refused = filesOf(outside);
    expectProblem(await refused.upload("b", "b"), 404, "not_found");
    expectProblem(await refused.put(file_id, "b"), 404, "not_found");
    expect((await filesOf(inside).download(file_id)).text).toBe("text");
  });

  test("the commands of this machine call it", async () => {
    const { node, internal } = await startTwofold();
    await using _node = node;
    const settings = { HERALD_ADMIN_PORT: new URL(internal.url).port, HERALD_ADMIN_API_KEY: node.key };
    const { code, stdout } = await runHerald(["nodes"], settings);
    const both = `${internal.url} (public: ${node.url})`;
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining(both) });
    const { body } = await internal.admin<{ items: Node[] }>("GET", "/admin/nodes");
    expect(body.items).toMatchObject([{ url: node.url, admin_url: internal.url }]);
  });

  test("a port in use and conflicting settings stop the start with one line that names the setting", async () => {
    await using node = await startHerald();
    const { port } = new URL(node.url);
    const startWith = (env: Record<string, string>) => runHerald(["serve"], { HERALD_PORT: "0", ...env });
    const taken = await startWith({ HERALD_ADMIN_PORT: port, HERALD_DATA_DIR: `${node.dataDir}/other` });
    expect(taken.code).toBe(1);
    expect(taken.stderr).toContain("set HERALD_ADMIN_PORT to another port");
    for (const [env, text] of [
      [{ HERALD_ADMIN_HOST: "10.0.0.1" }, "HERALD_ADMIN_HOST requires HERALD_ADMIN_PORT"],
      [{ HERALD_PORT: "7070", HERALD_ADMIN_PORT: "7070" }, "HERALD_ADMIN_PORT is the port of HERALD_PORT"],
    ] as const) {
      const { code, stderr } = await startWith(env);
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(text) });
    }
  });
});
