import { createMemory, type Memory, type Run } from "../harness/clients/memory.ts";
import { createResilientClient } from "../harness/clients/resilient-client.ts";
import { openSse, type Sse } from "../harness/clients/sse.ts";
import { within } from "../harness/deadline.ts";
import type { Random } from "../harness/random.ts";
import { readMissed } from "./judging/missed.ts";

const connectWithinMs = 10_000;
const shortestPauseMs = 20;
const longestPauseMs = 2_000;

/** One listener. */
export type Member = {
  readonly uid: string;
  /** Whether it listens to the end: one that does not reconnect is out once broken. */
  isThere(): boolean;
  /** Resolves once it has heard a message, or is out. */
  heard(id: string): Promise<unknown>;
  runs(): readonly Run[];
  /** How many connections it opened, and how many of them were broken by others. */
  opened(): number;
  broken(): number;
  close(): void;
};

/** A member that reconnects, and can stop reading. */
export type Follower = Member & { pause(): void; resume(): void };

/** A member's user, token and first node. */
export type Place = { uid: string; token: string; url: string };

/** What a follower needs besides its place. */
export type Ways = { urls: readonly string[]; random: Random; onFirstSeen: (id: string) => void };

/** Something that can be connected repeatedly. */
type Client = {
  readonly memory: Memory;
  connect(url: string): Promise<void>;
  ended(): Promise<unknown>;
  cut(): void;
};

/**
 * Connects, and from then on reconnects to any node after every break. When told of a gap, it reads what is missing
 * page by page.
 */
async function keepConnected(client: Client, { uid, token, url }: Place, { urls, random }: Ways): Promise<Member> {
  const { memory } = client;
  let isOver = false;
  let opened = 1;
  let broken = 0;
  let gap: { run: Run; known: ReadonlySet<string> } | undefined; // that it was told of and has not read yet

  async function stayConnected(): Promise<void> {
    for (;;) {
      await client.ended();
      if (isOver) return;
      broken += 1;
      for (let failures = 0; !isOver && !(await reconnect(failures)); failures += 1);
    }
  }

  async function arrive(at: string): Promise<void> {
    const known = new Set(memory.seen);
    await client.connect(at);
    const run = memory.runs.at(-1);
    if (run?.recovered === false) gap ??= { run, known };
    if (gap === undefined) return;
    memory.learn(gap.run, await readMissed(at, token, gap.known));
    gap = undefined;
  }

  async function reconnect(failures: number): Promise<boolean> {
    const pauseMs = Math.min(longestPauseMs, shortestPauseMs * 2 ** Math.min(failures, 10));
    await Bun.sleep(pauseMs * (0.5 + random.next()));
    if (isOver) return true;
    try {
      await within(arrive(random.pick(urls)), "a connection", connectWithinMs);
      opened += 1;
      return true;
    } catch {
      client.cut();
      return false;
    }
  }

  await client.connect(url);
  void stayConnected();
  return {
    uid,
    isThere: () => true,
    heard: memory.waitFor,
    runs: () => memory.runs,
    opened: () => opened,
    broken: () => broken,
    close() {
      isOver = true;
      client.cut();
    },
  };
}

/** Connects a socket that reconnects with `since`. */
export async function follow(place: Place, ways: Ways): Promise<Follower> {
  const client = createResilientClient({ herald: place }, place.uid, place.token, ways.onFirstSeen);
  return { ...(await keepConnected(client, place, ways)), pause: client.pause, resume: client.resume };
}

/** Opens a stream that reconnects with `Last-Event-ID`. */
export async function followByStream(place: Place, ways: Ways): Promise<Member> {
  return await keepConnected(createStreamClient(place, ways.onFirstSeen), place, ways);
}

/** Connects a socket once. */
export async function witness({ uid, token, url }: Place): Promise<Member> {
  const client = createResilientClient({ herald: { url } }, uid, token);
  await client.connect();
  return stayOnce(uid, client);
}

/** Opens a stream of server-sent events once. */
export async function stream(place: Place): Promise<Member> {
  const client = createStreamClient(place);
  await client.connect(place.url);
  return stayOnce(place.uid, client);
}

/** A member that is out once its connection ends. */
function stayOnce(uid: string, { memory, ended, cut }: Omit<Client, "connect">): Member {
  let isThere = true;
  const out = ended().then(() => {
    isThere = false;
  });
  return {
    uid,
    isThere: () => isThere,
    heard: (id) => Promise.race([memory.waitFor(id), out]),
    runs: () => memory.runs,
    opened: () => 1,
    broken: () => (isThere ? 0 : 1),
    close: cut,
  };
}

function createStreamClient({ uid, token }: Place, onFirstSeen?: (id: string) => void): Client {
  const memory = createMemory(onFirstSeen);
  let sse: Sse | undefined;
  let attempts = 0;
  let cutAttempt = 0;
  return {
    memory,
    async connect(url) {
      attempts += 1;
      const attempt = attempts;
      const run = memory.begin();
      const headers = {
        Authorization: `Bearer ${token}`,
        ...(run.since !== undefined && { "Last-Event-ID": run.since }),
      };
      sse = await openSse(url, headers, uid, ({ message }) => message && memory.hear(run, message._id));
      if (cutAttempt >= attempt) sse.close();
      const recovered = sse.headers.get("herald-recovered");
      memory.join(run, recovered === null ? undefined : recovered === "true");
    },
    ended: () => sse?.closed ?? Promise.resolve(),
    cut() {
      cutAttempt = attempts;
      sse?.close();
    },
  };
}
