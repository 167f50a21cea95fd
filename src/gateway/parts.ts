import { createHeartbeats } from "./connections/heartbeat.ts";
import { createJoiner } from "./connections/join.ts";
import { createAccounting } from "./fanout/accounting.ts";
import { createAudiences } from "./fanout/audiences.ts";
import { createEventFacts } from "./fanout/event-facts.ts";
import { createPlayer } from "./fanout/player.ts";
import { createPlaces } from "./limits/places.ts";
import { createSequencers } from "./log/sequencers.ts";
import { createSocketSessions } from "./websocket/socket-sessions.ts";

/** The parts of a gateway that decide who hears what, and when what a connection took is given back. */
export const gatewayParts = {
  createAccounting,
  createAudiences,
  createEventFacts,
  createHeartbeats,
  createJoiner,
  createPlaces,
  createPlayer,
  createSequencers,
  createSocketSessions,
};

/** Parts that a gateway can be put together from. */
export type GatewayParts = typeof gatewayParts;
