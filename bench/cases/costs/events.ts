import { connect } from "@nats-io/transport-node";
import { logSubject } from "../../../src/bus/subjects.ts";
import { openIdleClients } from "../../harness/clients/idle-clients.ts";
import { createRequestTemplate, openLane, openLanes } from "../../harness/clients/lane.ts";
import { cpuMsOf } from "../../harness/meter.ts";
import { benchOrg, sendBody, systemBody } from "../../harness/organization.ts";
import type { CostRun } from "../../harness/report/costs.ts";
import { startCallers } from "../sends.ts";
import { type Fixture, inHall, memoryAtRest, spend, strangers } from "./fixture.ts";

const callers = 64;
const listeners = 300;
const recipients = 1_000;
const spanMs = 5_000;
const warmUpMs = 3_000;
const settleMs = 500;

type Heard = { count: number; sender: number; listener: number; database: number; nats: number; commits: number };

/**
 * Measures events on two nodes: one receives the sends; on the other, one user of the organization is connected at
 * first and many later. Comparing events sent alone, each with a commit of its own, with events sent among many
 * separates the cost of the commit from that of the event.
 */
export async function costsOfEvents(
  fixture: Fixture,
  { idleNodeCpu = 0, idleNodeDatabaseCpu = 0 }: CostRun,
): Promise<CostRun> {
  const sender = await fixture.startNode();
  const listener = await fixture.startNode();
  const witness = await openIdleClients(listener, inHall.slice(0, 1), "socket");

  const natsBefore = cpuMsOf(fixture.natsPid);
  await Bun.sleep(spanMs);
  const natsIdleMicros = ((cpuMsOf(fixture.natsPid) - natsBefore) * 1000) / (spanMs / 1000);

  async function run(count: number, path: string, body: object, ms = spanMs): Promise<Heard> {
    const request = createRequestTemplate(sender.url, path, benchOrg.key, body);
    const before = await countOf(fixture);
    const [listenerMs, natsMs] = [cpuMsOf(listener.pid), cpuMsOf(fixture.natsPid)];
    const spent = await spend(fixture, sender, async () => {
      const load = startCallers(await openLanes(request, count));
      await Bun.sleep(ms);
      await load.stop();
      await Bun.sleep(settleMs);
    });
    const heard = (cpuMsOf(listener.pid) - listenerMs) * 1000 - spent.seconds * idleNodeCpu;
    const after = await countOf(fixture);
    const events = after.events - before.events;
    return {
      count: events,
      sender: (spent.nodeMicros - spent.seconds * idleNodeCpu) / events,
      listener: heard / events,
      database: (spent.databaseMicros - spent.seconds * idleNodeDatabaseCpu) / events,
      nats: ((cpuMsOf(fixture.natsPid) - natsMs) * 1000 - spent.seconds * natsIdleMicros) / events,
      commits: after.commits - before.commits,
    };
  }

  const quiet = sendBody(benchOrg.quiet);
  await run(callers, "/admin/message", quiet, warmUpMs);
  await fixture.database`ANALYZE`; // PostgreSQL does so itself within a database's first minute; until then it uses the wrong index
  const hintBytes = await hintBytesOf(fixture, () => run(1, "/admin/message", quiet, 100));
  const alone = await run(1, "/admin/message", quiet);
  const walBefore = await walBytesOf(fixture);
  const many = await run(callers, "/admin/message", quiet);
  const walBytes = ((await walBytesOf(fixture)) - walBefore) / many.count;
  const uids = Array.from({ length: recipients }, (_, index) => `n${index}`);
  const listed = await run(1, "/admin/message/system", systemBody(uids));
  const clients = await openIdleClients(listener, inHall.slice(1, 1 + listeners), "socket");
  const heard = await run(1, "/admin/message", sendBody("hall"));
  const frameBytes = clients.bytes() / listeners / heard.count;
  if (frameBytes < 100) throw new Error(`listeners heard ${frameBytes} bytes of each message`);
  await Promise.all([witness.close(), clients.close()]);
  await Promise.all([sender.stop(), listener.stop()]);

  const perCommit = many.count / many.commits;
  const commitShare = 1 - 1 / perCommit;
  const sendCommitCpu = (alone.sender - many.sender) / commitShare;
  const sendCommitDatabaseCpu = (alone.database - many.database) / commitShare;
  return {
    eventsPerCommit: perCommit,
    sendCommitCpu,
    sendEventCpu: alone.sender - sendCommitCpu,
    sendCommitDatabaseCpu,
    sendEventDatabaseCpu: alone.database - sendCommitDatabaseCpu,
    hintCpu: alone.listener,
    hintBusyCpu: many.listener,
    natsCpu: alone.nats,
    natsBusyCpu: many.nats,
    deliveryCpu: (heard.listener - alone.listener) / (listeners + 1),
    recipientCpu: (listed.listener - alone.listener) / recipients,
    recipientSendCpu: (listed.sender - alone.sender) / recipients,
    walBytes,
    hintBytes,
  };
}

/**
 * Measures the memory that an event takes on each node with connections of its organization: the last ones are kept for
 * joining connections.
 */
export async function costOfRemembering(fixture: Fixture): Promise<CostRun> {
  const [sender, listener] = [await fixture.startNode(), await fixture.startNode()];
  const clients = await openIdleClients(listener, strangers.slice(0, callers), "socket");
  const requests = strangers
    .slice(0, callers)
    .map(({ org }) => createRequestTemplate(sender.url, "/admin/message", benchOrg.key, sendBody(benchOrg.quiet, org)));

  async function remember(eventsOfEach: number): Promise<{ events: number; bytes: number }> {
    const load = startCallers(await Promise.all(requests.map((request) => openLane(request))));
    while (load.count() < eventsOfEach * callers) await Bun.sleep(5);
    await load.stop();
    return { events: load.count(), bytes: await memoryAtRest(listener.pid) };
  }

  const first = await remember(100);
  const second = await remember(350); // together well below the 1,024 that are kept
  await clients.close();
  await Promise.all([sender.stop(), listener.stop()]);
  return { rememberedEventBytes: (second.bytes - first.bytes) / second.events };
}

/** The events stored so far, and the transactions that stored them. */
async function countOf({ database }: Fixture): Promise<{ events: number; commits: number }> {
  return await one(database`SELECT count(*)::int AS events, count(DISTINCT xmin::text)::int AS commits FROM event`);
}

async function walBytesOf({ database }: Fixture): Promise<number> {
  const { bytes } = await one<{ bytes: number }>(
    database`SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 AS bytes`,
  );
  return bytes;
}

/** The size of a typical event on the bus, overheard there while `send` makes one. */
async function hintBytesOf({ busUrl }: Pick<Fixture, "busUrl">, send: () => Promise<unknown>): Promise<number> {
  const nats = await connect({ servers: busUrl });
  const heard = Promise.withResolvers<number>();
  nats.subscribe(logSubject(benchOrg.id), { callback: (_, { data }) => heard.resolve(data.length) });
  await nats.flush();
  await send();
  const bytes = await heard.promise;
  await nats.close();
  return bytes;
}

async function one<Row>(query: Promise<Row[]>): Promise<Row> {
  const [row] = await query;
  if (row === undefined) throw new Error("a query that gives one row gave none");
  return row;
}
