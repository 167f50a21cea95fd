import { keepOf } from "../config.ts";
import type { HttpServer } from "../lib/network/http-server.ts";
import { followTls } from "../lib/tls/follow-tls.ts";
import type { Nodes } from "../services/nodes/nodes.ts";
import { createRetention } from "../services/retention.ts";
import type { Context } from "./context.ts";
import type { NodeFiles } from "./files.ts";
import type { NodeOutbox } from "./outbox.ts";
import type { Services } from "./services.ts";
import type { Store, Stored } from "./store.ts";
import type { OpenTls } from "./tls.ts";

const beatMs = 2_000;
const sendsMayTakeMs = 5_000; // of webhooks and scheduled sends, and the commits of expiries and addressees
const retentionEveryMs = 60_000;
const retentionMayTakeMs = 1_000;
const skewExplanation =
  "the clocks of this node and the database differ by more than a minute; until they agree, this node removes no expired data";

type Parts = Stored &
  Services &
  NodeFiles & {
    nodes: Nodes;
    outbox: NodeOutbox | undefined;
    server: HttpServer;
    tls: OpenTls | undefined;
  };

/** Starts what a node does by itself, without a call. Resolves once the other nodes know of it. */
export async function startJobs(context: Context, parts: Parts): Promise<void> {
  const { clock, log, outages, onStop } = context;
  const { store, observer, scheduler, expiry, closing, addressing, poster, outbox, server, tls } = parts;
  await startBeat(context, parts);
  startRetention(context, store, outbox);
  for (const job of [scheduler, expiry, closing, addressing, poster]) {
    job.start(outages);
    onStop(job.stop, sendsMayTakeMs);
  }
  parts.startUpkeep();
  outbox?.start();
  if (tls !== undefined) onStop(followTls({ ...tls, server, clock, log }));
  onStop(observer.watchEventLoop()); // not before: the work of a start delays nobody
}

/** Tells the other nodes that this one is alive, now and every two seconds, and follows them and the secrets of the bus. */
async function startBeat({ repeat }: Context, { nodes, waits, followSecrets }: Parts): Promise<void> {
  await nodes.beat();
  repeat(async () => {
    await Promise.all([nodes.beat().then(waits.lookAtNodes), followSecrets()]);
  }, beatMs);
}

/** Removes expired data, now and every minute. */
function startRetention(context: Context, store: Store, outbox: NodeOutbox | undefined): void {
  const { config, nodeId, clock, steadyClock, log, repeat } = context;
  const retention = createRetention({
    ...store,
    keep: keepOf(config),
    neededFrom: outbox?.idsNeededFrom,
    holder: nodeId,
    clock,
    elapsed: steadyClock,
    onSkew: (skewMs) => log.warn({ node_ahead_ms: skewMs }, skewExplanation),
  });
  async function removeOld(): Promise<void> {
    const rows = await retention.run();
    if (rows > 0) log.info({ rows }, "removed expired data");
  }
  void repeat(removeOld, retentionEveryMs, retention.stop, retentionMayTakeMs)();
}
