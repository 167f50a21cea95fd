import { describe, expect, test } from "bun:test";
import { createRequestTemplate, openLanes } from "../../bench/harness/clients/lane.ts";
import { importInto, messageLine } from "../contract/transfer/lines.ts";
import { useHerald } from "../harness/servers/herald.ts";
import { createKey } from "../harness/servers/keys.ts";
import { createOrganization, type Organization } from "../harness/servers/organization.ts";

const herald = useHerald({
  oneNode: "a node has one queue of sends",
  env: {
    HERALD_LIMIT_REQUESTS_PER_SECOND: "0",
    HERALD_LIMIT_REQUESTS_BURST: "0",
    HERALD_LIMIT_ORGANIZATION_REQUESTS_PER_SECOND: "0",
  },
});

const waiting = 1_500;
const longBody = "x".repeat(30_000);
/**
 * Sends in six batches of 256 KiB at most: the two in progress, the one with the other organization's send, and those
 * answered while its answer is in flight to this process, which is busy. Without turns, all that wait come first.
 */
const fewBatches = Math.ceil((6 * 2 ** 18) / longBody.length);

/** Callers who send as soon as they are answered, so that `waiting` sends wait at any time. */
async function keepSending(org: Organization, cid: string) {
  const message = { id: "0".repeat(32), cid, body: longBody };
  const template = createRequestTemplate(herald().url, "/admin/message", herald().key, {
    organizationId: org.id,
    senderId: "alice",
    message,
  });
  const lanes = await openLanes(template, waiting);
  let answered = 0;
  let refused = 0;
  let isOver = false;
  const underWay = lanes.map((lane) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const onAnswer = (status: number) => {
      answered++;
      if (status !== 201) refused++;
      if (isOver) resolve();
      else lane.send(onAnswer);
    };
    lane.send(onAnswer);
    return promise;
  });
  return {
    answered: () => answered,
    refused: () => refused,
    async end() {
      isOver = true;
      await Promise.all(underWay);
      for (const lane of lanes) lane.close();
    },
  };
}

/** Imports files at once, of which so many lines are wrong; returns how many sends another organization makes meanwhile. */
async function sendWhileImporting(files: readonly object[][], wrong = 0): Promise<number> {
  const [many, one] = [await createOrganization(herald()), await createOrganization(herald())];
  const quiet = await one.conversation(["bob"]);
  let left = files.length;
  const imports = files.map(async (lines) => {
    const { end } = await importInto(many, lines);
    left--;
    return end;
  });
  let sent = 0;
  while (left > 0) await one.sent("bob", { cid: quiet, body: `${sent++}` });
  for (const end of await Promise.all(imports)) expect(end).toMatchObject({ done: true, failed: wrong });
  return sent;
}

const median = (values: number[]) => values.sort((left, right) => left - right)[Math.floor(values.length / 2)];

describe("organizations take turns (row 5)", () => {
  test("one with a single call waits for a few batches of one with many more sends, none of which is refused", async () => {
    const [many, one] = [await createOrganization(herald()), await createOrganization(herald())];
    const cid = await many.conversation(["alice"]);
    const quiet = await one.conversation(["bob"]);
    const callers = await keepSending(many, cid);

    /** How many of those sends are answered during a call, in the median. */
    async function passedDuring(call: (count: number) => Promise<unknown>): Promise<number | undefined> {
      const passed: number[] = [];
      for (let count = 0; count < 9; count++) {
        const before = callers.answered();
        await call(count);
        passed.push(callers.answered() - before);
      }
      return median(passed);
    }

    const bySend = await passedDuring((count) => one.sent("bob", { cid: quiet, body: `${count}` }));
    const byRead = await passedDuring(() => herald().admin("GET", one.path()));
    await callers.end();
    expect(bySend).toBeLessThanOrEqual(fewBatches);
    expect(byRead).toBeLessThanOrEqual(fewBatches);
    expect(callers.refused()).toBe(0);
  });

  test("one that sends continues while another replaces the participants of large conversations", async () => {
    const [many, one] = [await createOrganization(herald()), await createOrganization(herald())];
    const { key } = await createKey(herald(), { organization: many.id, scopes: ["directory:write"] });
    const quiet = await one.conversation(["bob"]);
    const uids = Array.from({ length: 40_000 }, (_, index) => `u${index.toString(36)}`);
    let left = 6;
    // Not by `admin`, whose deadline a slow machine exceeds. There, those at the end of the queue are told to come back, too.
    async function put(path: string): Promise<number> {
      const { status, headers } = await fetch(herald().url + path, {
        method: "PUT",
        headers: { "Admin-Api-Key": key, "Content-Type": "application/json" },
        body: JSON.stringify({ participants: uids }),
      });
      if (status !== 503) return status;
      await Bun.sleep(Number(headers.get("Retry-After")) * 1_000);
      return await put(path);
    }
    const puts = Array.from({ length: left }, async (_, index) => {
      const status = await put(many.path("conversations", `large-${index}`));
      left--;
      return status;
    });
    let sent = 0;
    while (left > 0) await one.sent("bob", { cid: quiet, body: `${sent++}` });
    expect(await Promise.all(puts)).toEqual(Array.from({ length: puts.length }, () => 201));
    expect(sent).toBeGreaterThan(5 * puts.length); // a PUT takes many steps, and a send fits between two
  });

  test("one that sends continues while another imports as much as it may at once", async () => {
    const lines = 3_000;
    const conversations = Array.from({ length: 500 }, (_, index) => ({ conversation: { id: `c${index}` } }));
    const fileOf = (name: string) =>
      Array.from({ length: lines }, (_, index) => messageLine(`${name}-${index}`, index, { cid: `c${index % 500}` }));
    const files = ["a", "b", "c", "d"].map((name) => [...conversations, ...fileOf(name)]);
    const sent = await sendWhileImporting(files);
    expect(sent).toBeGreaterThan(files.length * (lines / 250)); // a part holds fewer lines, and a send fits between two
  });

  test("one that sends continues while another imports long lines", async () => {
    const uids = Array.from({ length: 90_000 }, (_, index) => `u${index.toString(36)}`);
    const file = Array.from({ length: 10 }, () => ({ conversation: { id: "c", participants: uids, wrong: 1 } }));
    expect(await sendWhileImporting([file], file.length)).toBeGreaterThan(2 * file.length); // a line is read in many slices, and a send fits between two
  });
});
