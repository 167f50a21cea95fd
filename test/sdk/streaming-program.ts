// Streams to the server of its arguments, in the runtime that runs it, and prints what happened. Node 20 runs it, too.
import { once } from "node:events";
import { type BatchEnvelope, createAdmin, type ImportRecord } from "../../sdk/admin.ts";

const [url = "", key = "", org = "", cid = ""] = process.argv.slice(2);
const admin = createAdmin({ url, key });
const send: BatchEnvelope = { organizationId: org, senderId: "alice", message: { cid, body: "b" } };

/** Sends without an end. `returned` aborts when they are no longer wanted. */
function* endless(returned: AbortController): Generator<BatchEnvelope, void> {
  try {
    for (;;) yield send;
  } finally {
    returned.abort();
  }
}

async function untilAborted({ signal }: AbortController): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}

async function answersWhileSending(): Promise<string> {
  let answered = new AbortController();
  async function* sends() {
    for (let made = 0; made < 3; made++) {
      yield send;
      await untilAborted(answered);
      answered = new AbortController();
    }
  }
  let count = 0;
  for await (const { status } of admin.sendBatch(sends())) {
    if (status === 201) count++;
    answered.abort();
  }
  return `answered ${count} while sending`;
}

async function leavesTheLoop(): Promise<string> {
  const returned = new AbortController();
  for await (const { line } of admin.sendBatch(endless(returned))) if (line === 100) break;
  await untilAborted(returned);
  return "left, and its source was returned";
}

async function aborts(): Promise<string> {
  const over = new AbortController();
  const returned = new AbortController();
  const reason = new Error("enough");
  try {
    for await (const { line } of admin.sendBatch(endless(returned), { signal: over.signal }))
      if (line === 100) over.abort(reason);
  } catch (error) {
    await untilAborted(returned);
    return error === reason ? "aborted with the reason" : `failed with ${error}`;
  }
  return "not aborted";
}

async function failsWithItsSource(): Promise<string> {
  const broken = new Error("the database is gone");
  async function* records(): AsyncGenerator<ImportRecord, void> {
    yield { user: { id: "u" } };
    throw broken;
  }
  try {
    for await (const _ of admin.importRecords(org, records()));
  } catch (error) {
    return error === broken ? "failed with the error of its source" : `failed with ${error}`;
  }
  return "not failed";
}

async function pipes(): Promise<string> {
  let calls = 0;
  const counted = (url: string, init: RequestInit) => {
    calls++;
    return fetch(url, init);
  };
  const growing = await createAdmin({ url, key, fetch: counted }).stream({ ...send, message: { cid } });
  for (let written = 0; written < 200; written++) await growing.write("word ".repeat(50)); // waits for answers
  const { length } = await growing.done();
  return `piped ${length} characters in ${calls} calls`;
}

// Then the process must end by itself, as nothing goes on in the background.
for (const run of [answersWhileSending, leavesTheLoop, aborts, failsWithItsSource, pipes]) console.log(await run());
