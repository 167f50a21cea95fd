import { createRequestTemplate, type IdKind, type Lane, openLanes } from "../harness/clients/lane.ts";
import { startMeter } from "../harness/meter.ts";
import { benchOrg, sendBody, systemBody } from "../harness/organization.ts";
import type { Contender, Measures } from "../harness/report/rounds.ts";
import type { Peer } from "../harness/servers.ts";

/** Callers that send as fast as they are answered. */
export type Load = {
  /** Sends answered 201 so far. */
  count(): number;
  /** Stops sending, and resolves once everything sent is answered. Rejects if any answer was not 201, unless it may be 429. */
  stop(options?: { mayExceedLimits: boolean }): Promise<void>;
};

/** Starts `callers` callers, each with a connection of its own and one request in flight. */
export async function startLoad({ url }: Peer, callers: number, ids: IdKind = "random", org?: string): Promise<Load> {
  const request = createRequestTemplate(url, "/admin/message", benchOrg.key, sendBody(benchOrg.quiet, org), ids);
  return startCallers(await openLanes(request, callers));
}

/** Starts callers as `startLoad` does, whose system messages name these users. */
async function startSystemLoad({ url }: Peer, callers: number, uids: readonly string[]): Promise<Load> {
  const request = createRequestTemplate(url, "/admin/message/system", benchOrg.key, systemBody(uids));
  return startCallers(await openLanes(request, callers));
}

/** Starts a caller on each of these connections. */
export function startCallers(lanes: Lane[]): Load {
  let isRunning = true;
  let count = 0;
  let refused = 0;
  const ended = lanes.map((lane) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const onAnswer = (status: number) => {
      if (status === 201) count++;
      else refused++;
      if (isRunning) lane.send(onAnswer);
      else resolve();
    };
    lane.send(onAnswer);
    return promise;
  });
  return {
    count: () => count,
    async stop({ mayExceedLimits } = { mayExceedLimits: false }) {
      isRunning = false;
      await Promise.all(ended);
      for (const lane of lanes) lane.close();
      if (refused > 0 && !mayExceedLimits) throw new Error(`${refused} sends were refused`);
    },
  };
}

/**
 * Lets 64 callers send for a while, so that the server's code is compiled like that of one that has run for a minute.
 */
export async function warmUp(peer: Peer, ms: number): Promise<void> {
  const load = await startLoad(peer, 64);
  await Bun.sleep(ms);
  await load.stop();
}

/** Measures sends answered 201 per second, and what they cost. */
export function sendsTo(peer: Peer, callers: number, ids: IdKind = "random", org?: string): Contender {
  return sendsOf(peer, () => startLoad(peer, callers, ids, org));
}

/** Measures system messages to these users, as `sendsTo` measures messages. */
export function systemSendsTo(peer: Peer, callers: number, uids: readonly string[]): Contender {
  return sendsOf(peer, () => startSystemLoad(peer, callers, uids));
}

function sendsOf(peer: Peer, start: () => Promise<Load>): Contender {
  return {
    name: peer.name,
    async run(ms) {
      const load = await start();
      const stopMeter = startMeter(peer.pid);
      const before = load.count();
      await Bun.sleep(ms);
      const count = load.count() - before;
      const busy = stopMeter();
      await load.stop();
      return {
        perSecond: (count * 1000) / busy.elapsedMs,
        serverCpuMicros: (busy.serverCpuMs * 1000) / count,
        ...shares(busy),
      };
    },
  };
}

/** Measures inserts of a loop in the peer's own process. */
export function insertsOf(peer: Peer): Contender {
  return {
    name: peer.name,
    async run(ms) {
      const stopMeter = startMeter(peer.pid);
      const { count, elapsedMs }: { count: number; elapsedMs: number } = await (
        await fetch(`${peer.url}/?ms=${ms}`)
      ).json();
      const busy = stopMeter();
      return {
        perSecond: (count * 1000) / elapsedMs,
        serverCpuMicros: (busy.serverCpuMs * 1000) / count,
        ...shares(busy),
      };
    },
  };
}

/** How busy each process was, in cores. */
export function shares({ server, generator, others }: ReturnType<ReturnType<typeof startMeter>>): Measures {
  return { serverBusy: server, generatorBusy: generator, othersBusy: others };
}
