import type { createGateway } from "../../../src/gateway/gateway.ts";
import type { createSessions } from "../../../src/services/sessions/sessions.ts";
import type { SocketTopics } from "./socket.ts";

const sessionMs = 24 * 3600 * 1000;

/** What stands round every simulated gateway in the same way, as its world has nothing of it. */
export const quietSurroundings = {
  ratesOf: () => ({ requests: 0, messages: 0 }),
  organizationLimits: {
    know: () => undefined,
    limitsOf: () => ({ requestsPerSecond: 0, messagesPerSecond: 0, connections: 0, storedBytes: 0 }),
  },
  reactionLists: { reactionsTo: neverUsed },
  receipts: { acknowledge: neverUsed },
  reads: { markAs: neverUsed },
  fileAddresses: { urlsOf: neverUsed },
  acquaintances: {
    usersByIds: neverUsed,
    participantsByCids: neverUsed,
    idsAmong: neverUsed,
    lastSeen: neverUsed,
    lastSeenAmong: neverUsed,
  },
  presence: { onlineAmong: neverUsed },
  lastSeen: { note: () => undefined },
  lastEnds: { noteEnd: () => undefined, noteRefusal: () => undefined, of: () => ({}) },
  clientAddress: () => "",
  publicOriginOf: () => undefined,
  allowedOrigins: new Set(),
  onForbiddenOrigin: () => undefined,
  onRecovery: () => undefined,
} satisfies Partial<Parameters<typeof createGateway>[0]>;

/** The part of the bus that nobody uses here: nobody asks who is connected, waits for a delivery, hears of users or of who types. */
export const quietBus = {
  respond: () => undefined,
  watchWith: () => undefined,
  tellActivity: () => undefined,
  followActivity: () => () => undefined,
  tellTyping: () => undefined,
  followTyping: () => () => undefined,
} satisfies Partial<Parameters<typeof createGateway>[0]["bus"]>;

/** The limits of a simulated gateway with so many bytes for a connection. */
export const limitsWith = (backlogBytes: number): Parameters<typeof createGateway>[0]["limits"] => ({
  frameBytes: 65_536,
  backlogBytes,
  feedsPerOrganization: 100,
  organizationBacklogBytes: Number.POSITIVE_INFINITY,
  nodeBacklogBytes: Number.POSITIVE_INFINITY,
  requestsPerWindow: Number.POSITIVE_INFINITY,
  userRequests: Number.POSITIVE_INFINITY,
  jsonDepth: 32,
  pingMs: 25_000,
  pongMs: 10_000,
  connectionsPerUser: 20,
  connectionsPerAddress: 1_000,
});

/** Bun's topics, for simulated sockets. `onPublish` is called with each topic that is written to. */
export function createSockets(topics: SocketTopics, onPublish: (topic: string) => void = () => undefined) {
  return {
    publish(topic: string, frame: string) {
      onPublish(topic);
      let isSlow = false;
      for (const socket of [...(topics.get(topic) ?? [])]) isSlow = socket.push(frame) || isSlow;
      return isSlow ? -1 : frame.length;
    },
    countSubscribers: (topic: string) => topics.get(topic)?.size ?? 0,
  };
}

/** A user's token in the simulation; `attempt` makes it unique. */
export function tokenOf(identity: { org: string; uid: string; issuedAt: number; attempt: number }): string {
  return JSON.stringify(identity);
}

/** Reads such tokens, with a lifetime beyond that of any world. */
export function createTokens(now: () => number): Parameters<typeof createSessions>[0]["tokens"] {
  return {
    issue: neverUsed,
    async verify(token) {
      const { org, uid, issuedAt }: { org: string; uid: string; issuedAt: number } = JSON.parse(token);
      return { org, uid, issuedAt, expiresAt: now() + sessionMs };
    },
  };
}

/** What no world calls. */
export function neverUsed(): Promise<never> {
  throw new Error("the simulation does not know this");
}
