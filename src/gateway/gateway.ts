import type { NodesBus } from "../bus/bus.ts";
import { type HeraldError, rateExceeded } from "../contract/errors/errors.ts";
import type { LogEvent } from "../contract/log/log-event.ts";
import type { ThreadScheduler } from "../lib/event-loop/thread-scheduler.ts";
import type { ClientAddress } from "../lib/network/client-address.ts";
import type { PublicOrigin } from "../lib/network/public-origin.ts";
import { createGuard } from "../lib/observing/guard.ts";
import { type OutageEvents, tellOutages } from "../lib/observing/outages.ts";
import { createLimiter } from "../lib/queues/limiter.ts";
import type { Clock } from "../lib/time/clock.ts";
import { createTimerWheel } from "../lib/time/timer-wheel.ts";
import type { LastSeen } from "../services/directory/last-seen.ts";
import type { FeedStarts } from "../services/feeds.ts";
import type { OrganizationLimits } from "../services/limits/organization-limits.ts";
import type { Recovery } from "../services/messages/recovery.ts";
import type { LastEnds } from "../services/sessions/last-ends.ts";
import type { Sessions } from "../services/sessions/sessions.ts";
import { type ActivityParts, createActivity } from "./activity.ts";
import { createAdmission } from "./connections/admission.ts";
import type { LineLimits } from "./connections/line-parts.ts";
import { createOrigins } from "./connections/origins.ts";
import { createPageTurns } from "./connections/page-turns.ts";
import { createRegister } from "./connections/register.ts";
import { createRoster } from "./connections/roster.ts";
import type { DeliveryLedger } from "./delivery/delivery-ledger.ts";
import { createWatches } from "./delivery/watches.ts";
import { createPlayback, type TracePlay } from "./fanout/player.ts";
import type { NativeTopics } from "./fanout/socket-topics.ts";
import { createTopics, userTopic } from "./fanout/topics.ts";
import { createGatewayFigures } from "./figures.ts";
import { createBacklog } from "./limits/backlog.ts";
import { createDownloads } from "./limits/downloads.ts";
import { createChargedRecovery, createUserBudgets } from "./limits/user-budgets.ts";
import { createPlayables } from "./log/playable.ts";
import type { LogBreak } from "./log/sequencer.ts";
import type { FeedLog } from "./log/sequencers.ts";
import { type GatewayParts, gatewayParts } from "./parts.ts";
import { answerPresence } from "./presence.ts";
import { createStreams } from "./streams/sse.ts";
import { createStreamFrames } from "./streams/stream-frames.ts";
import { createTyping } from "./typing.ts";
import { createRequestHandler, type RequestServices } from "./websocket/requests.ts";
import { createWebSockets } from "./websocket/websocket.ts";

const tickMs = 250;
const headCheckMs = 5000;
const activityCheckMs = 15_000;
const playMayTakeMs = 1000;
const closing = { perLineMs: 2, longestMs: 3000 };
// How many sessions are opened, and how many pages of missed messages are read, at a time; the rest queue.
const admitted = { places: 32, maxWaiting: 20_000, maxWaitMs: 10_000 };
const comeBackWithinMs = 10_000;
const replayed = { places: 8, maxWaiting: 20_000, maxWaitMs: 30_000 };

type Dependencies = OutageEvents &
  ActivityParts &
  RequestServices & {
    bus: Pick<NodesBus, "subscribe" | "respond" | "watchWith" | "tellActivity" | "tellTyping" | "followTyping">;
    lastSeen: Pick<LastSeen, "note">;
    lastEnds: LastEnds;
    log: FeedLog;
    sessions: Sessions;
    organizationLimits: Pick<OrganizationLimits, "know" | "limitsOf">;
    recovery: Recovery;
    ledger: DeliveryLedger;
    feedStarts: FeedStarts;
    /** The clock that events expire by. */
    databaseClock: Clock;
    /** The clock of heartbeats and rates, which must not stop or jump when the wall clock is set. */
    steadyClock: Clock;
    clientAddress: ClientAddress;
    publicOriginOf: PublicOrigin;
    /** Origins whose pages may connect besides the server's own; `*` for all. */
    allowedOrigins: ReadonlySet<string>;
    /** Called for each page that is refused because of its origin. */
    onForbiddenOrigin(origin: string): void;
    limits: LineLimits & {
      connectionsPerUser: number;
      connectionsPerAddress: number;
      /** Requests per user and minute, over all connections. */
      userRequests: number;
      organizationBacklogBytes: number;
      nodeBacklogBytes: number;
    };
    /** Bun's native topics. */
    sockets: NativeTopics;
    /** The id of this node. */
    nodeId: string;
    /**
     * Called when an organization's log is no longer the one that was played; its connections have been told to rejoin.
     */
    onBreak(org: string, found: LogBreak): void;
    /** The organization's current rates on this node, for presence answers. */
    ratesOf(org: string): { requests: number; messages: number };
    thread: ThreadScheduler;
    /** Wraps the play of each event, if set. */
    tracePlay?: TracePlay | undefined;
  };

const restoreAdvice = "its row in the database is not what Herald wrote; restore it from a backup";

const tellToComeBack = () =>
  busy("connects", "too many clients are connecting to this node at once", admitted.maxWaiting);
const tellToRecoverLater = () =>
  busy("catch-ups", "too many clients are recovering messages on this node at once", replayed.maxWaiting);

/** Clients get random delays, so that they do not all come back at once. */
function busy(policy: string, what: string, quota: number): HeraldError {
  return rateExceeded({ detail: what, policy, quota, waitMs: Math.random() * comeBackWithinMs });
}

/** Creates the real-time side of a node: sequencers that play the logs, and the connections that hear them. */
export function createGateway(dependencies: Dependencies, parts: GatewayParts = gatewayParts) {
  const { clock, steadyClock, databaseClock, limits, thread } = dependencies;
  const { onError, onRecovery, ratesOf } = dependencies;
  const { figures, onDelivery } = createGatewayFigures(dependencies);
  const onCut = () => void figures.slowConsumersCut++;
  const { guardedLedger, noteDelivery } = parts.createAccounting({ ...dependencies, onDelivery });
  const guard = createGuard(onError);
  const wheel = createTimerWheel({ clock: steadyClock, tickMs, onError });
  const heartbeats = parts.createHeartbeats({ wheel });
  const backlog = createBacklog({
    maxBytes: limits.nodeBacklogBytes,
    maxOrganizationBytes: limits.organizationBacklogBytes,
    maxLineBytes: limits.backlogBytes,
    maxStallMs: limits.pingMs + limits.pongMs,
    clock: steadyClock,
  });
  const register = createRegister({ backlog });
  const quotas = parts.createConnectionQuotas(limits);
  const openings = createLimiter({ ...admitted, clock: steadyClock, whenBusy: tellToComeBack });
  const reads = createLimiter({ ...replayed, clock: steadyClock, whenBusy: tellToRecoverLater });
  const roster = createRoster({
    onLeave: (connection) => watches.left(connection),
    onUser(org, uid, isConnected) {
      if (!isConnected) {
        dependencies.lastSeen.note(org, uid);
        socketTopics.forget(userTopic(org, uid));
      }
      guard(() => dependencies.bus.tellActivity({ org, uid }));
      guard(() => typing.follow(org));
    },
  });
  const activity = createActivity(dependencies);
  const watches = createWatches({ roster, wheel, guard });
  const watchedLedger = watches.following(guardedLedger);
  const joining = createRoster();
  const frames = createStreamFrames();
  const socketTopics = parts.createSocketTopics({ ...dependencies, onDelivery: noteDelivery });
  const topics = createTopics({ frames, onDelivery: noteDelivery, onError });
  const audiences = parts.createAudiences(socketTopics.forget);
  const typing = createTyping({ ...dependencies, roster, audiences, sequencerOf: (org) => sequencers.of(org) });
  const facts = parts.createEventFacts();
  const budgets = createUserBudgets({ quota: limits.userRequests, clock: steadyClock });
  let hasMetUnknown = false;
  const onUnknown = ({ org, offset }: LogEvent) => {
    if (!hasMetUnknown)
      onError(
        new Error(`event ${offset} of ${org} has a kind that only a later version knows; such events are skipped`),
      );
    hasMetUnknown = true;
  };
  const { playableHints, playableLog, playableRecovery } = createPlayables({
    ...dependencies,
    recovery: createChargedRecovery(dependencies.recovery, budgets),
    facts,
    onUnplayable({ org, offset, id }) {
      figures.passedOver++;
      onError(new Error(`event ${offset} of ${org} (${id}) cannot be delivered and is skipped; ${restoreAdvice}`));
    },
  });
  const hearing = { roster, joining, audiences, backlog, facts, ledger: watchedLedger };
  const play = parts.createPlayer({ ...hearing, topics, socketTopics, frames, onUnknown });
  const sequencers = parts.createSequencers({
    bus: playableHints,
    log: playableLog,
    clock,
    play: watches.during(createPlayback({ ...dependencies, play, topics, backlog, guard })),
    leave: socketTopics.leave,
    onRepair: () => void figures.repairs++,
    onBreak(org, found) {
      figures.breaks++;
      watchedLedger.renew();
      for (const connection of [...roster.ofOrganization(org), ...joining.ofOrganization(org)])
        guard(() => connection.end("restarting"));
      guard(() => feeds.endOrganization(org));
      dependencies.onBreak(org, found);
    },
    onError,
  });
  const checkHeads = tellOutages(sequencers.checkHeads, { onError, onRecovery });
  const origins = createOrigins(dependencies.allowedOrigins, dependencies.onForbiddenOrigin);
  const pageTurns = createPageTurns({ backlog, reads, thread });
  const joiner = parts.createJoiner({
    ...hearing,
    sequencers,
    recovery: playableRecovery,
    log: playableLog,
    reads,
    pageTurns,
    databaseClock,
  });
  const admission = createAdmission({ ...dependencies, budgets, quotas, openings });
  const lines = { ...dependencies, admission, joiner, register, quotas, backlog, heartbeats, origins, onCut };
  const asking = { activity, typing, audiences, onAcknowledged: watches.acknowledged };
  const handle = createRequestHandler({ ...dependencies, ...asking });
  const socketSessions = parts.createSocketSessions({ ...lines, handle, budgets });
  const webSockets = createWebSockets({ ...lines, socketTopics, socketSessions });
  const streams = createStreams({ ...lines, topics });
  const feeds = parts.createFeeds({ ...lines, sequencers, log: playableLog, pageTurns, topics, frames, facts });

  const tickTimer = setInterval(() => {
    wheel.turn();
    backlog.check();
  }, tickMs);
  const headTimer = setInterval(() => void checkHeads(), headCheckMs);
  const activityTimer = setInterval(() => void activity.check(), activityCheckMs);
  dependencies.bus.watchWith(watches);
  dependencies.bus.respond((question) => answerPresence(roster, question, ratesOf, dependencies.lastEnds));

  return {
    webSockets,
    streams,
    feeds,
    origins,
    /** Counts other bytes that this node holds for callers, such as answers. */
    backlog: { watch: backlog.watch, forget: backlog.forget, onCut },
    /** Open lines per transport, including those that have not joined. */
    count: register.count,
    /** Looks in the store for commits that no hint announced. Called when the bus is back. Never rejects. */
    checkHeads,
    /**
     * Called after the database was reconnected, possibly to another server whose logs end elsewhere. Never rejects.
     */
    async onDatabaseBack(): Promise<void> {
      watchedLedger.renew();
      await checkHeads();
    },
    /** The number of joined connections and their organizations, and the lag of the sequencers. */
    activity: () => ({ ...roster.size(), lag: sequencers.lag }),
    /** The number of connections of an address, as named by `networkOf`. */
    countOfAddress: quotas.countOf,
    downloads: createDownloads({ ...dependencies, budgets }),
    /** Counters since the start. */
    figures,
    /** Everything currently held for connections; all zero once the last one has gone. */
    held() {
      const taken = quotas.count();
      const heard = audiences.size();
      return {
        connections: register.count("websocket") + register.count("sse") + register.count("feed"),
        address_places: taken.addresses,
        user_places: taken.users,
        organization_places: taken.organizations,
        joining: joining.size().connections,
        joined: roster.size().connections,
        audiences: heard.audiences + heard.connections,
        stream_topics: topics.streams.size,
        timers: wheel.size,
        sequencers: sequencers.held,
        connects: openings.running + openings.waiting,
        reads: reads.running + reads.waiting,
        watches: watches.size,
        subscriptions: activity.size,
        typing: typing.size,
        waiting_bytes: backlog.bytes,
      };
    },
    /** Plays what is already committed, then closes every connection, spread over a few seconds, and stops playing. */
    async stop(): Promise<void> {
      clearInterval(headTimer);
      clearInterval(activityTimer);
      await Promise.race([sequencers.playToHeads().catch(onError), Bun.sleep(playMayTakeMs)]);
      socketTopics.settleAll();
      await register.closeAll("restarting", closing);
      clearInterval(tickTimer);
      sequencers.stop();
    },
  };
}
