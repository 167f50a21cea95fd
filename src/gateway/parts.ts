import { createHeartbeats } from "./connections/heartbeat.ts";
import { createJoiner } from "./connections/join.ts";
import { createAccounting } from "./delivery/accounting.ts";
import { createAudiences } from "./fanout/audiences.ts";
import { createEventFacts } from "./fanout/event-facts.ts";
import { createPlayer } from "./fanout/player.ts";
import { createSocketTopics } from "./fanout/socket-topics.ts";
import { createConnectionQuotas } from "./limits/connection-quotas.ts";
import { createSequencers } from "./log/sequencers.ts";
import { createFeeds } from "./streams/feeds.ts";
import { createSocketSessions } from "./websocket/socket-sessions.ts";

/** The parts of a gateway that decide who hears what and when a connection's resources are released. */
export const gatewayParts = {
  createAccounting,
  createAudiences,
  createEventFacts,
  createFeeds,
  createHeartbeats,
  createJoiner,
  createConnectionQuotas,
  createPlayer,
  createSequencers,
  createSocketSessions,
  createSocketTopics,
};

/** The type of `gatewayParts`, for tests that replace some of them. */
export type GatewayParts = typeof gatewayParts;
