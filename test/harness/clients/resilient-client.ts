import { uniqueId } from "../random.ts";
import type { Herald } from "../servers/herald.ts";
import { createMemory, type Memory } from "./memory.ts";
import { openRawSocket, type RawSocket } from "./raw-socket.ts";
import type { Event, SocketResponse } from "./wire.ts";

/** What one client, over all of its connections, heard and was told. */
export type Ledger = {
  /** Ids of messages in the order in which they were first seen. */
  readonly seen: readonly string[];
  /** How often a connection of it heard an id that the same connection had heard before. */
  readonly repeatsWithinConnection: number;
  /** The ids that each connection heard, in order, repeats and all. */
  readonly perConnection: string[][];
  /** Times that the server said `recovered: false`. */
  readonly gapsAdmitted: number;
  readonly connections: number;
};

/**
 * A client as the contract wants them: it drops ids that it has seen, and comes back with `since` after every break.
 * `cut` breaks its connection without warning; what was under way is lost.
 */
export type ResilientClient = {
  readonly uid: string;
  readonly ledger: Ledger;
  readonly memory: Memory;
  /** Connects, from the last message seen if there was one. Resolves when the server has answered, rejects if it ends before. */
  connect(url?: string): Promise<void>;
  /** Breaks the connection, or the attempt at one. */
  cut(): void;
  pause(): void;
  resume(): void;
  readonly ended: () => Promise<{ closeCode: number | undefined }>;
  /** Resolves once an id was seen, on this connection or before. */
  waitFor(id: string): Promise<void>;
};

/** `onFirstSeen` is called with each id when it is heard for the first time. */
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
