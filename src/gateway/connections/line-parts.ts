import type { ThreadScheduler } from "../../lib/event-loop/thread-scheduler.ts";
import type { ClientAddress } from "../../lib/network/client-address.ts";
import type { PublicOrigin } from "../../lib/network/public-origin.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { LastEnds } from "../../services/sessions/last-ends.ts";
import type { Backlog } from "../limits/backlog.ts";
import type { ConnectionQuotas } from "../limits/connection-quotas.ts";
import type { Admission } from "./admission.ts";
import type { Heartbeats } from "./heartbeat.ts";
import type { Joiner } from "./join.ts";
import type { Origins } from "./origins.ts";
import type { Register } from "./register.ts";

/** The limits of lines, in bytes, requests and milliseconds. */
export type LineLimits = {
  frameBytes: number;
  backlogBytes: number;
  requestsPerWindow: number;
  jsonDepth: number;
  pingMs: number;
  pongMs: number;
  feedsPerOrganization: number;
};

/** The parts of a node that open, limit and end the lines of every transport. */
export type LineParts = {
  admission: Admission;
  joiner: Joiner;
  register: Register;
  quotas: ConnectionQuotas;
  backlog: Backlog;
  heartbeats: Heartbeats;
  origins: Origins;
  thread: ThreadScheduler;
  clientAddress: ClientAddress;
  publicOriginOf: PublicOrigin;
  limits: LineLimits;
  /** The clock that tokens expire by. */
  clock: Clock;
  /** The clock that events expire by. */
  databaseClock: Clock;
  /** The clock that rates are measured by; it never jumps. */
  steadyClock: Clock;
  /** Called when a line ends with bytes waiting. */
  onCut(): void;
  /** Told how the connections of users end. */
  lastEnds: Pick<LastEnds, "noteEnd" | "noteRefusal">;
  onError(error: unknown): void;
};
