import { eventually, within } from "../harness/deadline.ts";
import type { Random } from "../harness/random.ts";
import { createResilientClient, type Ledger } from "../harness/resilient-client.ts";
import { openSse } from "../harness/sse.ts";

const connectWithinMs = 10_000;
const shortestPauseMs = 20;
const longestPauseMs = 2_000;

/** One who listens. */
export type Member = {
  readonly uid: string;
  /** Whether it hears to the end: those that do not come back are out when they are broken. */
  isThere(): boolean;
  /** Resolves when it has heard a message, or is out. */
  heard(id: string, ms: number): Promise<unknown>;
  ledger(): Pick<Ledger, "perConnection" | "gapsAdmitted">;
  /** How many connections it opened, and how many of them were broken by others. */
  opened(): number;
  broken(): number;
  close(): void;
};

/** A member that comes back, and can stop reading. */
export type Follower = Member & { pause(): void; resume(): void };

/** Who it is, and where it connects first. */
export type Place = { uid: string; token: string; url: string };

/** Connects, and from then on comes back after every break with `since`, to any of the nodes. */
export async function follow(
  { uid, token, url }: Place,
  urls: readonly string[],
  random: Random,
  onFirstSeen: (id: string) => void,
): Promise<Follower> {
  const client = createResilientClient({ herald: { url } }, uid, token, onFirstSeen);
  let isOver = false;
  let opened = 1;
  let broken = 0;

  async function stayConnected(): Promise<void> {
    for (;;) {
      await client.ended();
      if (isOver) return;
      broken += 1;
      for (let failures = 0; !isOver && !(await reconnect(failures)); failures += 1);
    }
  }

  async function reconnect(failures: number): Promise<boolean> {
    const pauseMs = Math.min(longestPauseMs, shortestPauseMs * 2 ** Math.min(failures, 10));
    await Bun.sleep(pauseMs * (0.5 + random.next()));
    if (isOver) return true;
    try {
      await within(client.connect(random.pick(urls)), "a connection", connectWithinMs);
      opened += 1;
      return true;
    } catch {
      client.cut();
      return false;
    }
  }

  await client.connect();
  void stayConnected();
  return {
    uid,
    isThere: () => true,
    heard: (id) => client.waitFor(id),
    ledger: () => client.ledger,
    opened: () => opened,
    broken: () => broken,
    close() {
      isOver = true;
      client.cut();
    },
    pause: client.pause,
    resume: client.resume,
  };
}

/** Connects a socket, once. */
export async function witness({ uid, token, url }: Place): Promise<Member> {
  const client = createResilientClient({ herald: { url } }, uid, token);
  await client.connect();
  let isThere = true;
  const ended = client.ended().then(() => {
    isThere = false;
  });
  return {
    uid,
    isThere: () => isThere,
    heard: (id) => Promise.race([client.waitFor(id), ended]),
    ledger: () => client.ledger,
    opened: () => 1,
    broken: () => (isThere ? 0 : 1),
    close: client.cut,
  };
}

/** Opens a stream of server-sent events, once. */
export async function stream({ uid, token, url }: Place): Promise<Member> {
  const sse = await openSse(url, { Authorization: `Bearer ${token}` }, uid);
  let isThere = true;
  const ended = sse.closed.then(() => {
    isThere = false;
  });
  const heard = () => sse.events.flatMap(({ message }) => message?._id ?? []);
  return {
    uid,
    isThere: () => isThere,
    heard: (id, ms) => Promise.race([eventually(() => heard().includes(id) || undefined, id, ms), ended]),
    ledger: () => ({ perConnection: [heard()], gapsAdmitted: 0 }),
    opened: () => 1,
    broken: () => (isThere ? 0 : 1),
    close: sse.close,
  };
}
