import { uniqueId } from "../random.ts";
import type { Herald } from "../servers/herald.ts";
import { createMemory, type Memory } from "./memory.ts";
import { openRawSocket, type RawSocket } from "./raw-socket.ts";
import type { Event, SocketResponse } from "./wire.ts";

/** What one client heard and was told, across all its connections. */
export type Ledger = {
  /** Message ids in the order in which they were first seen. */
  readonly seen: readonly string[];
  /** How often one of its connections repeated an id. */
  readonly repeatsWithinConnection: number;
  /** The ids that each connection heard, in order, including repeats. */
  readonly perConnection: string[][];
  /** How often the server said `recovered: false`. */
  readonly gapsAdmitted: number;
  readonly connections: number;
};

/**
 * A client that follows the contract: it drops ids already seen, and reconnects with `since` after every break. `cut`
 * breaks its connection without warning, losing data in flight.
 */
export type ResilientClient = {
  readonly uid: string;
  readonly ledger: Ledger;
  readonly memory: Memory;
  /**
   * Connects, resuming after the last message seen, if any. Resolves once the server has answered, rejects if the
   * connection ends first.
   */
  connect(url?: string): Promise<void>;
  /** Breaks the connection, or the attempt to connect. */
  cut(): void;
  pause(): void;
  resume(): void;
  readonly ended: () => Promise<{ closeCode: number | undefined }>;
  /** Resolves once an id has been seen, on this connection or an earlier one. */
  waitFor(id: string): Promise<void>;
};

/** Creates a client that is not connected. `onFirstSeen` is called with each id when first heard. */
export function createResilientClient(
  org: { herald: Pick<Herald, "url"> },
  uid: string,
  token: string,
  onFirstSeen: (id: string) => void = () => undefined,
): ResilientClient {
  const memory = createMemory(onFirstSeen);
  let raw: RawSocket | undefined;
  let connections = 0;
  let attempts = 0;
  let cutAttempt = 0;

  const connect = async (url: string = org.herald.url) => {
    const id = uniqueId("connect");
    attempts += 1;
    const attempt = attempts;
    const run = memory.begin();
    const answered = Promise.withResolvers<SocketResponse>();
    const onText = (text: string) => {
      const frame = JSON.parse(text) as Event & { response?: SocketResponse };
      if (frame.response?.id === id) return answered.resolve(frame.response);
      const heard = frame.message?._id;
      if (heard !== undefined) memory.hear(run, heard);
    };
    const { since } = run;
    const socket = await openRawSocket(url, { onText });
    if (cutAttempt >= attempt) socket.cut();
    else raw = socket;
    connections += 1;
    socket.sendText({ request: { connect: { token, ...(since === undefined ? {} : { since }) }, id } });
    const lost = socket.ended.then(({ closeCode = 1006 }): SocketResponse => {
      if (cutAttempt < attempt) run.closeCode = closeCode;
      return { error: { status: 0, code: String(closeCode), message: "ended before the answer" } };
    });
    const response = await Promise.race([answered.promise, lost]);
    if (response.error !== undefined) throw new Error(`${uid} could not connect: ${JSON.stringify(response)}`);
    memory.join(run, response.recovered);
  };

  return {
    uid,
    ledger: {
      seen: memory.seen,
      get repeatsWithinConnection() {
        return memory.repeatsWithinRun;
      },
      get perConnection() {
        return memory.runs.map(({ ids }) => ids);
      },
      get gapsAdmitted() {
        return memory.gapsAdmitted;
      },
      get connections() {
        return connections;
      },
    },
    memory,
    connect,
    cut: () => {
      cutAttempt = attempts;
      raw?.cut();
    },
    pause: () => raw?.pause(),
    resume: () => raw?.resume(),
    ended: () => raw?.ended ?? Promise.reject(new Error(`${uid} has not connected`)),
    waitFor: memory.waitFor,
  };
}
