import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exportOf, importInto, messageLine } from "../contract/transfer/lines.ts";
import { startPostgres } from "../harness/engines/postgres.ts";
import { type Herald, startHerald } from "../harness/servers/herald.ts";
import { createOrganization, type Organization } from "../harness/servers/organization.ts";

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "herald-import-"));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

const users = Array.from({ length: 5_000 }, (_, index) => ({ user: { id: `u${index}`, name: null } }));
const messages = Array.from({ length: 40_000 }, (_, index) => messageLine(`m${index}`, index));
const lines = [...users, { conversation: { id: "room", name: null, participants: ["alice", "bob"] } }, ...messages];
const bytes = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));

/** Sends the lines piece by piece, and calls `onProgress` with each piece of the report until there are no more. */
async function sendLines(org: Organization, onProgress: (text: string) => void): Promise<void> {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let from = 0; from < bytes.length; from += 65_536) controller.enqueue(bytes.subarray(from, from + 65_536));
      controller.close();
    },
  });
  const headers = { "Admin-Api-Key": org.herald.key, "Content-Type": "application/x-ndjson" };
  const response = await fetch(org.herald.url + org.path("import"), { method: "POST", body, headers });
  const decoder = new TextDecoder();
  for await (const piece of response.body ?? []) onProgress(decoder.decode(piece, { stream: true }));
}

/** What must be there after a whole import, in an export's order. */
async function expectWhole(org: Organization): Promise<void> {
  const exported = await exportOf(org);
  expect(exported).toHaveLength(lines.length + 2); // alice and bob have no line of their own
  expect(exported.slice(-messages.length)).toEqual(messages);
}

async function importAround(first: Herald, restart: () => Promise<Herald>): Promise<void> {
  const org = await createOrganization(first);
  let reached = 0;
  await sendLines(org, (text) => {
    for (const [, count] of text.matchAll(/"lines":(\d+)/g)) reached = Number(count);
    if (reached >= 12_000) first.signal("SIGKILL");
  }).catch(() => undefined);
  const herald = await restart();
  const again = await createOrganization(herald, org.id);
  const there = await exportOf(again);
  expect(there.length).toBeGreaterThanOrEqual(reached); // what was reported is stored
  expect(there.length).toBeLessThan(lines.length);
  expect((await importInto(again, lines)).end).toEqual({ done: true, lines: lines.length, failed: 0 });
  await expectWhole(again);
}

test("what an import has reported survives kill -9, and the same lines again complete it", async () => {
  const first = await startHerald({ dataDir });
  let second: Herald | undefined;
  try {
    await importAround(first, async () => {
      second = await startHerald({ dataDir });
      return second;
    });
  } finally {
    await second?.kill();
  }
}, 120_000);

test("on PostgreSQL the other node completes what one began, and two nodes may import the same lines at once", async () => {
  const postgres = await startPostgres();
  if (postgres === undefined) return;
  const env = { HERALD_DATABASE_URL: await postgres.createDatabase() };
  const [first, second] = [await startHerald({ env }), await startHerald({ env })];
  try {
    await importAround(first, async () => second);
    const third = await startHerald({ env });
    try {
      const org = await createOrganization(second);
      const there = await createOrganization(third, org.id);
      const ends = await Promise.all([importInto(org, lines), importInto(there, lines)]);
      for (const { end } of ends) expect(end).toEqual({ done: true, lines: lines.length, failed: 0 });
      const exported = await exportOf(org);
      expect(exported).toHaveLength(lines.length + 2);
    } finally {
      await third.kill();
    }
  } finally {
    await second.kill();
    postgres.stop();
  }
}, 240_000);

test("an import whose caller hangs up ends, keeps what it stored, and frees its place", async () => {
  await using herald = await startHerald({ dataDir });
  const org = await createOrganization(herald);
  for (let time = 0; time < 6; time++) {
    const over = new AbortController();
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(bytes.subarray(0, 200_000)), // and never more
    });
    const headers = { "Admin-Api-Key": herald.key, "Content-Type": "application/x-ndjson" };
    const init = { method: "POST", body, headers, signal: over.signal };
    const reader = (await fetch(herald.url + org.path("import"), init)).body?.getReader();
    expect((await reader?.read())?.done).toBe(false);
    over.abort();
  }
  expect((await importInto(org, lines)).end).toMatchObject({ done: true, failed: 0 });
  await expectWhole(org);
}, 120_000);

test("sends during an import keep their order, and none waits for its end", async () => {
  await using herald = await startHerald({ dataDir });
  const org = await createOrganization(herald);
  await org.conversation(["alice", "bob"], "room");
  using bob = await org.socket("bob");
  let isImporting = true;
  const importing = importInto(org, lines).finally(() => {
    isImporting = false;
  });
  const bodies: string[] = [];
  while (isImporting && bodies.length < 200) {
    const body = `sent ${bodies.length}`;
    await org.sent("alice", { cid: "room", body });
    bodies.push(body);
  }
  expect(bodies.length).toBeGreaterThan(20);
  expect((await importing).end).toMatchObject({ done: true, failed: 0 });
  await org.expectNothingElseAfter(bob, bodies);
}, 120_000);
