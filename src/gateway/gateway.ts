import type { Bus } from "../bus/bus.ts";
import type { LogEvent } from "../contract/log-event.ts";
import type { ClientAddress } from "../lib/client-address.ts";
import type { Clock } from "../lib/clock.ts";
import { createCounters } from "../lib/counters.ts";
import { type OutageEvents, tellOutages } from "../lib/outages.ts";
import type { CatchUp } from "../services/catch-up.ts";
import type { DeliveryLedger } from "../services/delivery-ledger.ts";
import type { FeedStarts } from "../services/feeds.ts";
import type { HistoryReader } from "../services/history.ts";
import type { Receipts } from "../services/receipts.ts";
import type { Sessions } from "../services/sessions.ts";
import { createAudiences } from "./audiences.ts";
import { createFeeds } from "./feeds.ts";
import { createGatewayFigures } from "./figures.ts";
import { createJoiner } from "./join.ts";
import { cutMostBehind } from "./listeners.ts";
import { createOrigins } from "./origins.ts";
import { createPlayer } from "./player.ts";
import { answerPresence } from "./presence.ts";
import { createRequestHandler } from "./requests.ts";
import { createRoster } from "./roster.ts";
import { createSequencers, type Log } from "./sequencers.ts";
import { createSocketSessions } from "./socket-sessions.ts";
import { createStreams } from "./sse.ts";
import { createTopics, type SocketTopics } from "./topics.ts";
import { createWebSockets, type SocketLimits } from "./websocket.ts";

const beatMs = 1000;
const headCheckMs = 5000;
const backlogCheckMs = 100;
const playMayTakeMs = 1000;
const spreadPerConnectionMs = 2;
const longestSpreadMs = 3000;

type Dependencies = OutageEvents & {
  bus: Pick<Bus, "subscribe" | "respond">;
  log: Log;
  sessions: Sessions;
  catchUp: CatchUp;
  history: HistoryReader;
  receipts: Receipts;
  ledger: DeliveryLedger;
  feedStarts: FeedStarts;
  /** What tokens are compared with. */
  clock: Clock;
  /** What heartbeats and rates are measured with: a clock that was set must not stop them. */
  steadyClock: Clock;
  clientAddress: ClientAddress;
  /** The origins whose pages may connect, beside the server's own; `*` for all. */
  allowedOrigins: ReadonlySet<string>;
  limits: SocketLimits & { connectionsPerUser: number; connectionsPerAddress: number; nodeBacklogBytes: number };
  /** The server's native topics. */
  sockets: SocketTopics;
  /** Of this node. */
  nodeId: string;
  /** Put around the play of each event, if it is there; `play` gives how many connections the event was handed to. */
  tracePlay?: ((event: LogEvent, play: () => number) => void) | undefined;
};

/** The real-time side of a node: sequencers that play the logs, and the connections that hear them. */
export function createGateway(dependencies: Dependencies) {
  const { bus, log, sessions, catchUp, history, receipts, ledger, clock, steadyClock, limits, clientAddress } =
    dependencies;
  const { onError, onRecovery } = dependencies;
  const { figures, onDelivery, onRepair, onCut } = createGatewayFigures(dependencies);
  const { deliveries } = figures;
  const roster = createRoster();
  const joining = createRoster();
  const topics = createTopics(dependencies.sockets, onDelivery);
  const audiences = createAudiences();
  const play = createPlayer({ topics, roster, joining, audiences, ledger });
  const playToAll = (event: LogEvent) => {
    const isSlow = play(event);
    return feeds.play(event) || isSlow;
  };
  const { tracePlay } = dependencies;
  const sequencers = createSequencers({
    bus,
    log,
    clock,
    play: (event) => limitBacklog(tracePlay === undefined ? playToAll(event) : playTraced(event, tracePlay)),
    onRepair,
    onError,
  });
  const checkHeads = tellOutages(sequencers.checkHeads, { onError, onRecovery });
  const joiner = createJoiner({ sequencers, catchUp, log, roster, joining, audiences, ledger });
  const perUser = createCounters(limits.connectionsPerUser);
  const perAddress = createCounters(limits.connectionsPerAddress);
  const origins = createOrigins(dependencies.allowedOrigins);
  const common = { sessions, joiner, perUser, perAddress, clientAddress, origins, limits, clock, onCut, onError };
  const socketSessions = createSocketSessions({ ...common, handle: createRequestHandler({ history, receipts }) });
  const webSockets = createWebSockets({ ...common, clock: steadyClock, socketSessions });
  const streams = createStreams({ ...common, steadyClock, topics });
  const { feedStarts } = dependencies;
  const feeds = createFeeds({ ...common, sequencers, feedStarts, steadyClock });

  let backlogCheckedAt = 0;

  function playTraced(event: LogEvent, trace: NonNullable<typeof tracePlay>): boolean {
    let isSlow = false;
    trace(event, () => {
      const before = deliveries.message + deliveries.system_message;
      isSlow = playToAll(event);
      return deliveries.message + deliveries.system_message - before;
    });
    return isSlow;
  }

  /** What waits for all connections together is looked at when somebody is slow, and not for each event of a burst. */
  function limitBacklog(isSlow: boolean): boolean {
    const now = performance.now();
    if (isSlow && now - backlogCheckedAt >= backlogCheckMs) {
      backlogCheckedAt = now;
      cutMostBehind([...webSockets.listeners(), ...streams.listeners(), ...feeds.listeners()], limits.nodeBacklogBytes);
    }
    return isSlow;
  }

  const beatTimer = setInterval(() => {
    webSockets.beat();
    streams.beat();
    feeds.beat();
    limitBacklog(true);
  }, beatMs);
  const headTimer = setInterval(() => void checkHeads(), headCheckMs);
  bus.respond((question) => answerPresence(roster, question));

  return {
    webSockets,
    streams,
    feeds,
    /** Looks in the store for what was committed and not heard of. Called when the bus is there again. Never rejects. */
    checkHeads,
    /** How many connections have joined, of how many organizations, and how far their sequencers lag behind. */
    activity: () => ({ ...roster.size(), lag: sequencers.lag }),
    /** What was counted since the start. */
    figures,
    /** Plays what was committed before, then closes every connection, spread over a few seconds, and plays no more. */
    async stop(): Promise<void> {
      clearInterval(beatTimer);
      clearInterval(headTimer);
      await Promise.race([sequencers.playToHeads().catch(onError), Bun.sleep(playMayTakeMs)]);
      const count = webSockets.count() + streams.count() + feeds.count();
      const spreadMs = Math.min(longestSpreadMs, count * spreadPerConnectionMs);
      await Promise.all([webSockets, streams, feeds].map((connections) => connections.closeAll(spreadMs)));
      sequencers.stop();
    },
  };
}
