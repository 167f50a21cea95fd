import { expect, test } from "bun:test";
import { defaultPayloadLimits } from "../../../src/contract/limits.ts";
import { createOperations } from "../../../src/contract/operations/all.ts";
import type { Operation } from "../../../src/contract/operations/operation.ts";
import { rawHttp } from "../../harness/clients/raw-http.ts";
import { filesOf } from "../../harness/servers/files.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";

const herald = useHerald({ oneNode: "the lists of nodes and metrics are a node's own" });
const operations: Operation[] = Object.values<Operation>(createOperations(defaultPayloadLimits));

/** An organization with something in each list, and the values of path parameters. */
async function prepare(): Promise<Record<string, string>> {
  const org = await createOrganization(herald());
  const cid = await org.conversation(["alice", "bob"], "room");
  const sent = await org.sent("alice", { cid, body: "ä".repeat(60_000) });
  await org.sent("alice", { cid, body: "b".repeat(60_000) }); // the history is a long response
  const { file_id } = await filesOf(org).uploaded("a.txt", "a file");
  return { org: org.id, uid: "alice", cid, server_mid: sent.server_mid, file_id };
}

async function head(path: string, headers: Record<string, string> = {}) {
  const named = { Host: new URL(herald().url).host, "Admin-Api-Key": herald().key, ...headers, Connection: "close" };
  const lines = [`HEAD ${path} HTTP/1.1`, ...Object.entries(named).map((header) => header.join(": "))];
  const answer = await rawHttp(herald().url, [`${lines.join("\r\n")}\r\n\r\n`], `the end of HEAD ${path}`);
  return { ...answer, length: answer.headers.get("content-length") };
}

async function get(path: string, headers: Record<string, string> = {}) {
  const named = { "Admin-Api-Key": herald().key, "Accept-Encoding": "identity", ...headers };
  const answer = await fetch(herald().url + path, { headers: named, redirect: "manual", decompress: false });
  return { status: answer.status, headers: answer.headers, length: (await answer.bytes()).length };
}

const measured = ["/metrics", "/readyz", "/healthz", "/admin/nodes", "/admin/organizations/{org}"];
const changing = new Set([...measured, "/admin/audit"]); // from one call to the next
const endless = "/admin/organizations/{org}/events";
const exported = /\/export$/; // nobody knows the length of a stream

test("HEAD has the headers of GET on every route, its length included, and no body", async () => {
  const ids = await prepare();
  const known = operations.filter(({ method, path }) => method === "get" && path !== endless).map(({ path }) => path);
  const others = [
    "/llms.txt",
    "/docs/how-to/receive",
    "/docs/how-to/receive.md",
    "/docs/search.json",
    "/",
    "/docs",
    "/docs/errors",
    "/docs/errors.md",
    "/console",
    "/console/demo",
    "/console/assets/none.js",
    "/nowhere",
  ];
  const closed = ["/admin/organizations/nobody", "/admin/message", "/docs%ff"];
  const wrong: object[] = [];
  for (const template of [...known, ...others, ...closed]) {
    const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(ids[name] ?? "unknown"));
    const [full, short] = [await get(path), await head(path)];
    const isStream = exported.test(path);
    const expected = { status: full.status, type: full.headers.get("content-type"), body: "" };
    const found = { status: short.status, type: short.headers.get("content-type") ?? null, body: short.body };
    if (!Bun.deepEquals(found, expected)) wrong.push({ path, found, expected });
    const isExact = !changing.has(template) && !isStream;
    if (isExact && Number(short.length) !== full.length) wrong.push({ path, length: short.length, of: full.length });
    if (changing.has(template) && !(Number(short.length) > 0)) wrong.push({ path, length: short.length });
    if (isStream && short.length !== undefined) wrong.push({ path, length: short.length, of: "a stream" });
  }
  expect(wrong).toEqual([]);
});

test("HEAD of a feed has the headers of the stream, and no length", async () => {
  const { org = "" } = await prepare();
  const { status, length, body, headers } = await head(`/admin/organizations/${org}/events`);
  expect({ status, length, body }).toEqual({ status: 200, length: undefined, body: "" });
  expect(headers.get("content-type")).toBe("text/event-stream");
});

test("HEAD of the console has the length of the encoding that is asked for", async () => {
  for (const encoding of ["identity", "gzip", "br"]) {
    const headers = { "Accept-Encoding": encoding };
    const [full, short] = [await get("/console", headers), await head("/console", headers)];
    expect(Number(short.length)).toBe(full.length);
    expect(short.headers.get("content-encoding") ?? null).toBe(full.headers.get("content-encoding"));
  }
});
