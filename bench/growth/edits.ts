import { Database } from "bun:sqlite";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { startPostgres } from "../../test/harness/engines/postgres.ts";
import { type Herald, startHerald } from "../../test/harness/servers/herald.ts";
import { createOrganization, type Organization } from "../../test/harness/servers/organization.ts";
import { processTreeOf } from "../harness/cores.ts";
import { liftedLimits, tokenSecret } from "../harness/herald.ts";
import { cpuMsOf } from "../harness/meter.ts";
import { table } from "../harness/report/report.ts";
import { median } from "../harness/report/statistics.ts";
import { createDataDir } from "../harness/servers.ts";
import { type Answer, answerOf } from "./answer.ts";
import { createReader, type Reader, untilReady } from "./reader.ts";

/** The answers to compare, in pieces and bytes, and how often. */
export type EditsSize = { answers: readonly { pieces: number; bytes: number }[]; rounds: number };

/**
 * What an answer took. `frameBytes` is what each of the listeners was sent, `grewBytes` by how much the database grew, and `writtenBytes`
 * what was written for that.
 */
type Run = {
  frameBytes: number;
  rows: number;
  textBytes: number;
  grewBytes: number;
  writtenBytes: number;
  cpuMs: number;
  databaseMs: number;
  seconds: number;
};

/** How an answer is told. */
type Way = { name: string; tell(place: Place, org: Organization, cid: string, answer: Answer): Promise<void> };

/** A node on a database. */
type Place = {
  name: string;
  herald: Herald;
  /** The rows of an organization's log, and the bytes of what they say. */
  rowsOf(org: string): Promise<{ rows: number; textBytes: number }>;
  bytes(): Promise<number>;
  /** What has been written so far: of PostgreSQL, only its log. */
  writtenBytes(): Promise<number>;
  databaseCpuMs(): number;
};

const listeners = 3;
const sender = "agent";
const rowsOfLog = "SELECT COUNT(*) AS count, SUM(OCTET_LENGTH(payload)) AS bytes FROM event WHERE org =";

const ways: readonly Way[] = [
  {
    name: "edits of the whole text",
    async tell(_, org, cid, { pieces: [first = "", ...others] }) {
      const { server_mid: id } = await org.sent(sender, { cid, body: first });
      let body = first;
      for (const piece of others) {
        body += piece;
        await org.edited(sender, { id, body });
      }
    },
  },
  {
    name: "appends, a call each",
    async tell(_, org, cid, { pieces }) {
      const { server_mid: id } = await org.sent(sender, { cid, open: true });
      let offset = 0;
      for (const [index, text] of pieces.entries())
        offset = await org.appended(sender, { id, offset, text, done: index === pieces.length - 1 });
    },
  },
  {
    name: "appends, a line each",
    async tell({ herald }, org, cid, { pieces }) {
      const { server_mid: id } = await org.sent(sender, { cid, open: true });
      let answered = Promise.withResolvers<void>();
      let index = 0;
      const body = new ReadableStream<Uint8Array>(
        {
          async pull(controller) {
            if (index > 0) await answered.promise;
            const text = pieces[index];
            if (text === undefined) return controller.close();
            answered = Promise.withResolvers();
            const done = index === pieces.length - 1;
            const messageAppend = { id, offset: 0, text, done };
            const line = index++ === 0 ? { organizationId: org.id, senderId: sender, messageAppend } : { text, done };
            controller.enqueue(new TextEncoder().encode(`${JSON.stringify(line)}\n`));
          },
        },
        { highWaterMark: 0 },
      );
      const headers = { "Admin-Api-Key": herald.key, "Content-Type": "application/x-ndjson" };
      const response = await fetch(`${herald.url}/admin/message/append`, { method: "PUT", headers, body });
      if (response.status !== 200 || response.body === null) throw new Error(`the lines got ${response.status}`);
      for await (const _answer of response.body) answered.resolve();
    },
  },
];

const columns = [
  "",
  "to each listener",
  "rows",
  "what they say",
  "the database grew by",
  "written",
  "CPU of the node",
  "of PostgreSQL",
  "took",
];

async function measure(place: Place, { tell }: Way, answer: Answer): Promise<Run> {
  const { herald } = place;
  const org = await createOrganization(herald);
  const uids = Array.from({ length: listeners }, (_, index) => `reader-${index}`);
  const cid = await org.conversation([sender, ...uids]);
  const readers = uids.map((uid) => createReader({ urls: [herald.url], org: org.id, uid }));
  for (const { client } of readers) client.start();
  await untilReady(readers);
  const [bytesBefore, writtenBefore, cpuBefore, databaseBefore, startedAt] = [
    await place.bytes(),
    await place.writtenBytes(),
    cpuMsOf(herald.pid),
    place.databaseCpuMs(),
    performance.now(),
  ];
  await tell(place, org, cid, answer);
  const [heard] = await org.history(cid);
  if (heard?.body !== answer.text) throw new Error("the message has another text");
  await org.sent(sender, { cid, body: "the end" });
  const last = (await org.history(cid))[0]?._id;
  while (readers.some(({ client }) => client.since !== last)) await Bun.sleep(5);
  const run = {
    frameBytes: median(readers.map(framesOf)),
    ...(await place.rowsOf(org.id)),
    grewBytes: (await place.bytes()) - bytesBefore,
    writtenBytes: (await place.writtenBytes()) - writtenBefore,
    cpuMs: cpuMsOf(herald.pid) - cpuBefore,
    databaseMs: place.databaseCpuMs() - databaseBefore,
    seconds: (performance.now() - startedAt) / 1000,
  };
  for (const { client } of readers) client.stop();
  return run;
}

const framesOf = ({ tally }: Reader) => tally.pieceBytes + tally.messageBytes + tally.editBytes;

/** The bytes that a process has written to files (wchar, proc(5)); what Bun sends over sockets is not among them. */
function writtenBy(pid: number): number {
  return Number(/^wchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, "utf8"))?.[1]);
}

async function openSqlite(env: Record<string, string>, stack: AsyncDisposableStack): Promise<Place> {
  const folder = createDataDir();
  stack.defer(folder.remove);
  const herald = stack.use(await startHerald({ env, dataDir: folder.path }));
  const database = stack.adopt(new Database(join(folder.path, "herald.db"), { readonly: true }), (one) => one.close());
  const pragma = (query: string) =>
    Number(Object.values(database.query<Record<string, number>, []>(query).get() ?? {})[0]);
  return {
    name: "SQLite",
    herald,
    async rowsOf(org) {
      const found = database.query<{ count: number; bytes: number }, [string]>(`${rowsOfLog} ?`).get(org);
      return { rows: found?.count ?? 0, textBytes: found?.bytes ?? 0 };
    },
    bytes: async () => pragma("PRAGMA page_size") * (pragma("PRAGMA page_count") - pragma("PRAGMA freelist_count")),
    writtenBytes: async () => writtenBy(herald.pid),
    databaseCpuMs: () => 0, // a thread of the node
  };
}

async function openPostgres(env: Record<string, string>, stack: AsyncDisposableStack): Promise<Place | undefined> {
  const postgres = await startPostgres();
  if (postgres === undefined) return undefined;
  stack.defer(() => postgres.stop());
  const url = await postgres.createDatabase();
  const herald = stack.use(await startHerald({ env: { ...env, HERALD_DATABASE_URL: url } }));
  const sql = stack.adopt(new SQL(postgres.asSuperuser(url), { max: 1 }), (one) => one.close());
  return {
    name: "PostgreSQL",
    herald,
    async rowsOf(org) {
      const [found] = await sql.unsafe(`${rowsOfLog} $1`, [org]);
      return { rows: Number(found.count), textBytes: Number(found.bytes) };
    },
    async bytes() {
      const [{ bytes }] = await sql`SELECT pg_database_size(current_database())::float8 AS bytes`;
      return bytes;
    },
    async writtenBytes() {
      const [{ bytes }] = await sql`SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS bytes`;
      return bytes;
    },
    databaseCpuMs: () => processTreeOf(postgres.pid).reduce((sum, pid) => sum + cpuMsOf(pid), 0),
  };
}

/** Compares answers that are told by edits of the whole text and by appends, in turns. */
export async function measureEdits({ answers, rounds }: EditsSize): Promise<string[]> {
  const env = { HERALD_TOKEN_SECRET: tokenSecret, ...liftedLimits };
  await using stack = new AsyncDisposableStack();
  const places = [await openSqlite(env, stack), await openPostgres(env, stack)].filter((place) => place !== undefined);
  const warm = answerOf(50, 500);
  for (const place of places) for (const way of ways) await measure(place, way, warm);

  console.log(`steps one after the other, ${listeners} listeners; medians of ${rounds} rounds`);
  const rows: string[][] = [];
  for (const { pieces, bytes } of answers) {
    const answer = answerOf(pieces, bytes);
    const runs = new Map<string, Run[]>();
    for (let round = 0; round < rounds; round++)
      for (const place of places)
        for (const way of ways) {
          const title = `${(bytes / 1000).toFixed(1)} kB in ${pieces} steps, ${place.name}: ${way.name}`;
          runs.set(title, [...(runs.get(title) ?? []), await measure(place, way, answer)]);
        }
    for (const [title, some] of runs) {
      const of = (figure: keyof Run) => median(some.map((run) => run[figure]));
      const kilobytes = (figure: keyof Run) => `${Math.round(of(figure) / 1000).toLocaleString("en-US")} kB`;
      rows.push([
        title,
        kilobytes("frameBytes"),
        `${of("rows")}`,
        kilobytes("textBytes"),
        kilobytes("grewBytes"),
        kilobytes("writtenBytes"),
        `${Math.round(of("cpuMs"))} ms`,
        title.includes("PostgreSQL") ? `${Math.round(of("databaseMs"))} ms` : "",
        `${of("seconds").toFixed(1)} s`,
      ]);
    }
  }
  console.log(table(columns, rows));
  return [];
}
