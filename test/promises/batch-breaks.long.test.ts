import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BatchLine, bytesOfLines, openBatch, sendBatch } from "../harness/clients/batch.ts";
import { eventually, within } from "../harness/deadline.ts";
import { startPostgres } from "../harness/engines/postgres.ts";
import { createRandom } from "../harness/random.ts";
import { errorsLogged, type Herald, startHerald } from "../harness/servers/herald.ts";
import { createKey } from "../harness/servers/keys.ts";
import { createOrganization, type Organization } from "../harness/servers/organization.ts";

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "herald-batch-"));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

const unlimited = {
  HERALD_LIMIT_REQUESTS_PER_SECOND: "0",
  HERALD_LIMIT_REQUESTS_BURST: "0",
  HERALD_LIMIT_ORGANIZATION_REQUESTS_PER_SECOND: "0",
};

/** Lines with ids: messages to a room, and a system message now and then. */
function linesFor(org: Organization, count: number, text = ""): object[] {
  return Array.from({ length: count }, (_, index) =>
    index % 10 === 9
      ? { organizationId: org.id, senderId: "alice", messageSystem: { id: `${index}`, uids: ["bob"], x: { text } } }
      : {
          organizationId: org.id,
          senderId: "alice",
          message: { id: `${index}`, cid: "room", body: `${index}`, x: { text } },
        },
  );
}

const bodiesOf = (count: number) => Array.from({ length: count }, (_, index) => `${index}`);
const isMessage = (body: string) => Number(body) % 10 !== 9;

async function room(herald: Herald, id?: string): Promise<Organization> {
  const org = await createOrganization(herald, id);
  await org.conversation(["alice", "bob"], "room");
  return org;
}

/** What a whole batch must have left: each message once, in the order of the lines. */
async function expectWhole(org: Organization, count: number): Promise<void> {
  const bodies = (await org.history("room")).map(({ body }) => body).toReversed();
  expect(bodies).toEqual(bodiesOf(count).filter(isMessage));
}

/** Begins a batch on a bare connection, declared as `bytes` long. */
function connectBatch({ url, key }: Herald, bytes: number, query = ""): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).on("error", () => undefined);
  socket.write(
    [
      `POST /admin/message/batch${query} HTTP/1.1`,
      "Host: x",
      `Admin-Api-Key: ${key}`,
      "Content-Type: application/x-ndjson",
      `Content-Length: ${bytes}`,
      "",
      "",
    ].join("\r\n"),
  );
  return socket;
}

/** Sends the beginning of a batch and hangs up, at once or when the first bytes of an answer are there. */
async function cut(herald: Herald, bytes: Buffer, at: number, waits: boolean): Promise<void> {
  const socket = connectBatch(herald, bytes.length);
  const isAnswered = new Promise<void>((resolve) => {
    socket.once("data", () => resolve());
    socket.once("close", () => resolve());
  });
  await new Promise<void>((resolve) => void socket.write(bytes.subarray(0, at), () => resolve()));
  const first = bytes.indexOf("\n");
  if (waits && at > first) await within(isAnswered, "an answer");
  const isClosed = new Promise<void>((resolve) => void socket.once("close", () => resolve()));
  socket.destroy();
  await isClosed;
}

async function expectCutAndResent(first: Herald, second: Herald, cuts: number): Promise<void> {
  const random = createRandom();
  const count = 300;
  for (let time = 0; time < cuts; time++) {
    const org = await room(first);
    const there = { ...org, herald: second };
    using bob = await org.socket("bob");
    const lines = linesFor(org, count);
    const bytes = bytesOfLines(lines);
    const at = random.integer(0, bytes.length - 1);
    await cut(first, bytes, at, random.next() < 0.5);
    const { answers } = await sendBatch(second, lines);
    const told = `seed ${random.seed}, cut ${time} at byte ${at}`;
    expect({ told, lines: answers.map(({ line, status }) => [line, status]) }).toEqual({
      told,
      lines: lines.map((_, index) => [index + 1, 201]),
    });
    await expectWhole(there, count);
    const heard: unknown[] = [];
    while (heard.length < count) {
      const { message, system_message: system } = await bob.next();
      heard.push(message?.body ?? system?._id);
    }
    expect({ told, heard }).toEqual({ told, heard: bodiesOf(count) });
    await org.expectNothingElse(bob);
  }
  expect(errorsLogged(first)).toEqual([]);
}

describe("a batch that is cut and sent again", () => {
  test("at any byte, is stored and heard once and in order", async () => {
    await using herald = await startHerald({ dataDir, env: unlimited });
    await expectCutAndResent(herald, herald, 40);
  }, 120_000);

  test("to another node, on PostgreSQL, is stored and heard once and in order", async () => {
    const postgres = await startPostgres();
    if (postgres === undefined) return;
    const env = { ...unlimited, HERALD_DATABASE_URL: await postgres.createDatabase() };
    const [first, second] = [await startHerald({ env }), await startHerald({ env })];
    try {
      await expectCutAndResent(first, second, 6);
    } finally {
      await first.kill();
      await second.kill();
      postgres.stop();
    }
  }, 120_000);

  test("after kill -9, has kept what was answered", async () => {
    const count = 40_000;
    const first = await startHerald({ dataDir, env: unlimited });
    const org = await room(first);
    const bytes = bytesOfLines(linesFor(org, count));
    const socket = connectBatch(first, bytes.length);
    let answered = 0;
    const isOver = new Promise<void>((resolve) => void socket.once("close", () => resolve()));
    socket.on("data", (piece: Buffer) => {
      answered += piece.toString("latin1").match(/"status":201/g)?.length ?? 0;
      if (answered >= 5_000) first.signal("SIGKILL");
    });
    socket.write(bytes);
    await within(isOver, "the end of the node");
    await using second = await startHerald({ dataDir, env: unlimited });
    const again = await createOrganization(second, org.id);
    const stored = await again.history("room");
    expect(stored.length).toBeGreaterThanOrEqual(Math.floor(answered * 0.9));
    expect(stored.length).toBeLessThan(count * 0.9);
    const { answers } = await sendBatch(second, bytes);
    expect(answers.map(({ line, status }) => [line, status])).toEqual(
      bodiesOf(count).map((_, index) => [index + 1, 201]),
    );
    expect(answers.filter(({ replayed }) => replayed).length).toBeGreaterThanOrEqual(answered);
    await expectWhole(again, count);
  }, 120_000);
});

describe("the stop of a node ends a batch with a line that says where", () => {
  test("while its caller is silent", async () => {
    const herald = await startHerald({ dataDir });
    const org = await room(herald);
    const batch = await openBatch(herald);
    const lines = linesFor(org, 3);
    batch.write(...lines);
    for (const _ of lines) expect((await batch.next())?.status).toBe(201);
    const stopping = herald.stop();
    expect(await batch.next()).toMatchObject({ done: false, line: 4, problem: { code: "unavailable", status: 503 } });
    expect(await batch.next()).toBeUndefined();
    await stopping;
  });

  test("while its caller sends, and the lines before it are answered", async () => {
    const count = 100_000;
    const first = await startHerald({ dataDir, env: unlimited });
    const org = await room(first);
    const bytes = bytesOfLines(linesFor(org, count));
    const socket = connectBatch(first, bytes.length);
    let text = "";
    const isOver = new Promise<void>((resolve) => void socket.once("close", () => resolve()));
    let stopping: Promise<void> | undefined;
    socket.on("data", (piece: Buffer) => {
      text += piece.toString("latin1");
      if (text.length > 100_000) stopping ??= first.stop();
    });
    socket.write(bytes);
    await within(isOver, "the end of the response");
    await stopping;
    const answers: BatchLine[] = text
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line));
    const last = answers.at(-1);
    expect(last).toMatchObject({ done: false, line: answers.length, problem: { code: "unavailable" } });
    expect(answers.slice(0, -1).map(({ line, status }) => [line, status])).toEqual(
      bodiesOf(answers.length - 1).map((_, index) => [index + 1, 201]),
    );
    await using second = await startHerald({ dataDir, env: unlimited });
    const again = await createOrganization(second, org.id);
    await sendBatch(second, bytes);
    await expectWhole(again, count);
  }, 120_000);
});

test("a batch ends with a line that says where when its key is revoked", async () => {
  await using herald = await startHerald({ dataDir });
  const org = await room(herald);
  const line = { organizationId: org.id, senderId: "alice", message: { cid: "room", body: "x" } };
  const { id, key } = await createKey(herald);
  const batch = await openBatch(herald, { key });
  batch.write(line);
  expect(await batch.next()).toMatchObject({ line: 1, status: 201 });
  await herald.admin("DELETE", `/admin/keys/${id}`);
  let sent = 1;
  const last = await eventually(async () => {
    batch.write(line);
    sent++;
    const answer = await batch.next();
    return answer?.done === false ? answer : undefined;
  }, "the end of the batch");
  expect(last).toMatchObject({ done: false, line: sent, problem: { code: "unauthorized" } });
  expect(await batch.next()).toBeUndefined();
  expect(await org.history("room")).toHaveLength(sent - 1);
});

test("a caller that does not read the answers is not read from, and gets all of them once it reads", async () => {
  await using herald = await startHerald({ dataDir, env: unlimited });
  const org = await room(herald);
  const count = 150_000;
  const bytes = Buffer.alloc(count * 300, `${"x".repeat(299)}\n`); // no JSON: the answers are as long
  const socket = connectBatch(herald, bytes.length);
  socket.pause();
  let written = 0;
  const write = () => {
    if (written < bytes.length)
      socket.write(bytes.subarray(written, written + 65_536), () => {
        written += 65_536;
        write();
      });
  };
  write();
  let before = -1;
  await eventually(async () => {
    const isStill = written === before;
    before = written;
    await Bun.sleep(500);
    return isStill || undefined;
  }, "the server to stop reading");
  expect(written).toBeWithin(1, bytes.length * 0.8);
  await org.sent("alice", { cid: "room", body: "others go on" });
  let answered = 0;
  const isWhole = new Promise<void>((resolve) => {
    let rest = "";
    socket.on("data", (piece: Buffer) => {
      const text = rest + piece.toString("latin1");
      answered += text.match(/\}\n/g)?.length ?? 0;
      rest = text.slice(-1) === "}" ? "}" : "";
      if (text.endsWith("0\r\n\r\n")) resolve();
    });
  });
  socket.resume();
  await within(isWhole, () => `all answers, of which there are ${answered}`, 60_000);
  expect(answered).toBe(count);
  socket.destroy();
}, 120_000);

test("a batch whose caller hangs up frees its place, whatever it was waiting for", async () => {
  await using herald = await startHerald({ dataDir });
  const org = await room(herald);
  const { key } = await createKey(herald, { organization: org.id });
  const line = { organizationId: org.id, senderId: "alice", message: { cid: "room", body: "x" } };
  for (const query of ["", "?rate=1", "?dry_run=true"]) {
    for (let time = 0; time < 4; time++) {
      const batch = await openBatch(herald, { key, query });
      batch.write(line, line, line);
      if (time > 0) await batch.next();
      batch.leave();
    }
    await eventually(async () => {
      const all = await Promise.all(Array.from({ length: 4 }, () => sendBatch(herald, [line], { key })));
      return all.every(({ status }) => status === 200) || undefined;
    }, "four free places");
  }
}, 60_000);
