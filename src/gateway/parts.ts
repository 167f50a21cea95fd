import { createAccounting } from "./accounting.ts";
import { createAudiences } from "./audiences.ts";
import { createEventFacts } from "./event-facts.ts";
import { createHeartbeats } from "./heartbeat.ts";
import { createJoiner } from "./join.ts";
import { createPlaces } from "./places.ts";
import { createPlayer } from "./player.ts";
import { createSequencers } from "./sequencers.ts";
import { createSocketSessions } from "./socket-sessions.ts";

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
