import { Database } from "bun:sqlite";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { readMetrics } from "../../test/harness/reading/metrics.ts";
import { tokenOf } from "../harness/clients/idle-clients.ts";
import { benchOrg } from "../harness/organization.ts";
import type { Measures } from "../harness/report/rounds.ts";
import { median } from "../harness/report/statistics.ts";
import { type Target, tenant, tenantPath } from "./attack.ts";
import type { Heard } from "./clients/tally.ts";
import type { AttackedNode } from "./fixture.ts";
import { wrongPrefix } from "./report/verdict.ts";

type Inspected = { attacked: AttackedNode; target: Target };

/** A node under attack, with what the attackers have heard so far. */
type InspectedDuring = Inspected & { heard: Heard };

/** Examines a node. Names of measures that must be 0 begin with `wrong: `. */
type Inspection<In extends Inspected = Inspected> = (inspected: In) => Promise<Measures>;

/** How many of the attackers' connections the node has ended without their noticing, as they do not read. */
export const endedUnheard = "seen: ended, unheard";

/** What is examined besides the victim during the attack, by the name of the attack. */
export const inspectionsDuring: Readonly<Record<string, Inspection<InspectedDuring>>> = {
  "unread-streams": countEnded,
  "unread-sockets": countEnded,
  "unread-lists": countEnded,
  "bad-tokens": ({ target }) => presentCredentials(target),
  "bad-keys": ({ target }) => presentCredentials(target),
};

/** What is examined once the attack is over, given what the same examination found before it. */
export const inspectionsAfter: Readonly<Record<string, (inspected: Inspected) => Promise<() => Promise<Measures>>>> = {
  acks: async ({ attacked, target }) => {
    const before = await countRows(attacked);
    return () => countReceipts(attacked, target, before);
  },
};

/** Nobody else is connected, and those who do not read never hang up. */
async function countEnded({ target: { url }, heard }: InspectedDuring): Promise<Measures> {
  const { samples } = readMetrics(await (await fetch(`${url}/metrics`)).text());
  const open = samples.filter(({ name }) => name === "herald_connections").reduce((sum, { value }) => sum + value, 0);
  const { connections = 0, cut = 0 } = heard;
  return { [endedUnheard]: Math.max(0, connections - cut - open) };
}

const attempts = 20;

/** Presents valid tokens and valid keys from the address at which others are refused; counts the refusals. */
async function presentCredentials({ url, moreKeys }: Target): Promise<Measures> {
  const refused = { token: 0, socket: 0, key: 0 };
  for (let count = 0; count < attempts; count++) {
    const authorization = `Bearer ${await tokenOf(tenant.org, `member-${count}`)}`;
    const stream = new AbortController();
    const sse = await fetch(`${url}/sse`, { headers: { Authorization: authorization }, signal: stream.signal });
    stream.abort();
    const key = moreKeys[count % moreKeys.length] ?? "";
    const byKey = await fetch(`${url}/admin/self`, { headers: { "Admin-Api-Key": key } });
    if (sse.status !== 200) refused.token++;
    if ((await openSocket(url, authorization)) !== 0) refused.socket++;
    if (byKey.status !== 200) refused.key++;
  }
  return {
    [`${wrongPrefix}valid tokens are refused by SSE`]: refused.token,
    [`${wrongPrefix}valid tokens are refused by WebSocket`]: refused.socket,
    [`${wrongPrefix}valid keys are refused`]: refused.key,
  };
}

// With the DOM's types loaded, `WebSocket` has the browser's type; Bun's takes headers.
const HeadedWebSocket = WebSocket as unknown as new (url: string, options: Bun.WebSocketOptions) => Bun.WebSocket;

/** 0 if the socket may stay, otherwise the code that it was closed with. */
async function openSocket(url: string, authorization: string): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const socket = new HeadedWebSocket(`${url.replace(/^http/, "ws")}/ws`, { headers: { Authorization: authorization } });
  socket.onopen = () => socket.send(JSON.stringify({ request: { ping: {}, id: 1 } }));
  socket.onmessage = () => resolve(0);
  socket.onclose = ({ code }) => resolve(code);
  const outcome = await promise;
  socket.close();
  return outcome;
}

const reportsAsked = 20;

const receiptsStoredWithinMs = 2_000;
const rowsBeside = 20; // of nodes, and of what the same users may have heard meanwhile

/** Counts the rows that repeated acknowledgements made, and times the report on what they acknowledged. */
async function countReceipts(attacked: AttackedNode, { url, received }: Target, before: number): Promise<Measures> {
  await Bun.sleep(receiptsStoredWithinMs);
  const times: number[] = [];
  for (let count = 0; count < reportsAsked; count++) {
    const askedAt = performance.now();
    const path = tenantPath("messages", received[count] ?? "");
    await (await fetch(url + path, { headers: { "Admin-Api-Key": benchOrg.key } })).text();
    times.push(performance.now() - askedAt);
  }
  const rows = (await countRows(attacked)) - before;
  return {
    "seen: rows that were added": rows,
    "seen: ms for a report": median(times),
    [`${wrongPrefix}more rows than acknowledged messages`]: rows > received.length + rowsBeside ? rows : 0,
  };
}

/**
 * The rows of all tables except those of sends and of the audit log: receipts are wherever this revision keeps them.
 */
async function countRows({ databaseUrl, folder }: AttackedNode): Promise<number> {
  if (databaseUrl !== undefined) {
    await using database = new SQL(databaseUrl.replace("//herald@", "//postgres@"), { max: 1 });
    const tables: { name: string }[] =
      await database`SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`;
    const [row]: { count: string }[] = await database.unsafe(sumOf(tables.map(({ name }) => name)));
    return Number(row?.count);
  }
  const file = readdirSync(join(folder, "herald")).find((name) => name.endsWith(".db")) ?? "";
  using database = new Database(join(folder, "herald", file), { readonly: true });
  const tables = database.query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table'").all();
  return database.query<{ count: number }, []>(sumOf(tables.map(({ name }) => name))).get()?.count ?? Number.NaN;
}

function sumOf(tables: readonly string[]): string {
  const counted = tables.filter((name) => !/^(event|audit)/.test(name));
  return `SELECT ${counted.map((name) => `(SELECT COUNT(*) FROM "${name}")`).join(" + ")} AS count`;
}
