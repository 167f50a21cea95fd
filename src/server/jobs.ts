import { followTls } from "../lib/tls/follow-tls.ts";
import type { Audit } from "../services/audit.ts";
import type { Nodes } from "../services/nodes/nodes.ts";
import type { Context } from "./context.ts";
import type { NodeFiles } from "./files.ts";
import type { Listening } from "./listen.ts";
import type { NodeOutbox } from "./outbox.ts";
import { startRetention } from "./retention.ts";
import type { Services } from "./services.ts";
import type { Stored } from "./store.ts";
import type { OpenTls } from "./tls.ts";

const beatMs = 2_000;
const sendsMayTakeMs = 5_000; // of webhooks and scheduled sends

type Parts = Stored &
  Services &
  NodeFiles & {
    audit: Audit;
    nodes: Nodes;
    outbox: NodeOutbox | undefined;
    server: Listening["server"];
    tls: OpenTls | undefined;
  };

/** Starts what a node does by itself, without a call. Resolves once the other nodes know of it. */
export async function startJobs(context: Context, parts: Parts): Promise<void> {
  const { clock, log, outages, onError, onStop } = context;
  const { store, counting, scheduler, poster, audit, outbox, server, tls } = parts;
  await startBeat(context, parts);
  startRetention(context, store, outbox);
  scheduler.start({ audit, outages, onError });
  onStop(scheduler.stop, sendsMayTakeMs);
  poster.start({
    outages,
    onError,
    onDisabled: ({ org, id }) => log.warn({ org, webhook: id }, "switched off a webhook, as its receiver answered 410"),
  });
  onStop(poster.stop, sendsMayTakeMs);
  parts.startUpkeep();
  outbox?.start();
  if (tls !== undefined) onStop(followTls({ ...tls, server, clock, log }));
  onStop(counting.watchEventLoop()); // not before: the work of a start delays nobody
}

/** Tells the other nodes that this one is alive, now and every two seconds, and follows them and the secrets of the bus. */
async function startBeat({ repeat }: Context, { nodes, waits, followSecrets }: Parts): Promise<void> {
  await nodes.beat();
  repeat(async () => {
    await Promise.all([nodes.beat().then(waits.lookAtNodes), followSecrets()]);
  }, beatMs);
}
