import { eventually, within } from "../harness/deadline.ts";
import { createRandom } from "../harness/random.ts";
import { createResilientClient, type Ledger } from "../harness/resilient-client.ts";
import { openSse } from "../harness/sse.ts";
import { goodClaims, signToken } from "../harness/tokens.ts";
import { add, flawless, judge, type Verdict } from "./verdict.ts";

const connectWithinMs = 10_000;
const shortestPauseMs = 20;
const longestPauseMs = 2_000;
const connectAtOnce = 100;
const secondsBefore = 7_200;

/** Who listens. Plain data, so that it can be sent to another process. */
export type AudiencePlan = {
  org: string;
  /** The nodes. A client begins at one after another of them, or all at the first with `beginTogether`. */
  urls: string[];
  beginTogether?: boolean;
  seed: number;
  /** Clients as the contract wants them: they come back with `since`, somewhere, after every break. */
  followers: number;
  /** Sockets and streams that are opened once; when they break they are gone. */
  witnesses: number;
  streams: number;
  /** Followers that stop reading when they are told to. */
  slow: number;
};

/** What connections heard, at the end. Times in milliseconds since the Unix epoch. */
export type Hearing = {
  verdict: Verdict;
  /** How many connections there were in all, and how many of them were broken by others than us. */
  connections: number;
  broken: number;
  /** The same of those that stop reading. */
  brokenSlow: number;
  /** When a message had reached each follower that is not slow. */
  heardByAllAt: [id: string, at: number][];
};

/** Everyone who listens during a scenario. */
export type Audience = {
  /** Resolves when everyone who is there has heard these messages, and every follower has come back for them. */
  heard(ids: string[], ms: number): Promise<void>;
  /** The slow ones stop reading, and read again. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Compares what was heard with the messages of the store. */
  account(stored: string[]): Promise<Hearing>;
  /** Closes every connection. */
  [Symbol.dispose](): void;
};

/** The users of a plan, one for each listener: they must be participants. */
export function usersOf({
  followers,
  witnesses,
  streams,
  slow,
}: Omit<AudiencePlan, "org" | "urls" | "seed">): string[] {
  return Array.from({ length: followers + witnesses + streams + slow }, (_, index) => `listener ${index}`);
}

type Member = {
  uid: string;
  isFollower: boolean;
  isOpen(): boolean;
  heard(id: string, ms: number): Promise<unknown>;
  ledger(): Pick<Ledger, "perConnection" | "gapsAdmitted">;
  broken(): number;
  close(): void;
};
type Follower = Member & { pause(): void; resume(): void };

/** Opens every connection of the plan, and resolves when all of them are there. */
export async function openAudience(plan: AudiencePlan): Promise<Audience> {
  const random = createRandom(plan.seed);
  const uids = usersOf(plan);
  const promptFollowers = plan.followers;
  const heardBy = new Map<string, number>();
  const heardByAllAt: [string, number][] = [];
  let opened = 0;

  const urlAt = (index: number) => plan.urls[index % plan.urls.length] ?? "";
  const homeOf = (index: number) => urlAt(plan.beginTogether === true ? 0 : index);
  // Long before now, so that a node whose clock is behind takes it, and good for long.
  const tokenOf = (uid: string) => {
    const claims = goodClaims(plan.org, uid);
    return signToken({ ...claims, iat: (claims.iat ?? 0) - secondsBefore, exp: (claims.exp ?? 0) + secondsBefore });
  };

  function countPrompt(id: string): void {
    const count = (heardBy.get(id) ?? 0) + 1;
    heardBy.set(id, count);
    if (count === promptFollowers) heardByAllAt.push([id, Date.now()]);
  }

  async function follow(index: number, isSlow: boolean): Promise<Follower> {
    const uid = uids[index] ?? "";
    const client = createResilientClient(
      { herald: { url: homeOf(index) } },
      uid,
      await tokenOf(uid),
      isSlow ? undefined : countPrompt,
    );
    let isOver = false;
    let broken = 0;
    let failures = 0;

    async function stayConnected(): Promise<void> {
      while (!isOver) {
        await client.ended();
        if (isOver) return;
        broken += 1;
        while (!isOver && !(await reconnect())) failures += 1;
        failures = 0;
      }
    }

    async function reconnect(): Promise<boolean> {
      const pauseMs = Math.min(longestPauseMs, shortestPauseMs * 2 ** Math.min(failures, 10));
      await Bun.sleep(pauseMs * (0.5 + random.next()));
      if (isOver) return true;
      try {
        await within(client.connect(urlAt(random.integer(0, plan.urls.length - 1))), "a connection", connectWithinMs);
        opened += 1;
        return true;
      } catch {
        client.cut();
        return false;
      }
    }

    await client.connect();
    opened += 1;
    void stayConnected();
    return {
      uid,
      isFollower: true,
      isOpen: () => true,
      heard: (id) => client.waitFor(id),
      ledger: () => client.ledger,
      broken: () => broken,
      close() {
        isOver = true;
        client.cut();
      },
      pause: client.pause,
      resume: client.resume,
    };
  }

  async function witness(index: number): Promise<Member> {
    const uid = uids[index] ?? "";
    const client = createResilientClient({ herald: { url: homeOf(index) } }, uid, await tokenOf(uid));
    await client.connect();
    opened += 1;
    let isOpen = true;
    const ended = client.ended().then(() => {
      isOpen = false;
    });
    return {
      uid,
      isFollower: false,
      isOpen: () => isOpen,
      heard: (id) => Promise.race([client.waitFor(id), ended]),
      ledger: () => client.ledger,
      broken: () => (isOpen ? 0 : 1),
      close: () => client.cut(),
    };
  }

  async function stream(index: number): Promise<Member> {
    const uid = uids[index] ?? "";
    const sse = await openSse(homeOf(index), { Authorization: `Bearer ${await tokenOf(uid)}` }, uid);
    opened += 1;
    let isOpen = true;
    const ended = sse.closed.then(() => {
      isOpen = false;
    });
    const heard = () => sse.events.flatMap(({ message }) => message?._id ?? []);
    return {
      uid,
      isFollower: false,
      isOpen: () => isOpen,
      heard: (id, ms) => Promise.race([eventually(() => heard().includes(id) || undefined, id, ms), ended]),
      ledger: () => ({ perConnection: [heard()], gapsAdmitted: 0 }),
      broken: () => (isOpen ? 0 : 1),
      close: sse.close,
    };
  }

  const kinds = [
    ...Array.from({ length: plan.followers }, () => (index: number) => follow(index, false)),
    ...Array.from({ length: plan.witnesses }, () => witness),
    ...Array.from({ length: plan.streams }, () => stream),
  ];
  const members: Member[] = [];
  for (let from = 0; from < kinds.length; from += connectAtOnce) {
    const some = kinds.slice(from, from + connectAtOnce);
    members.push(...(await Promise.all(some.map((open, index) => open(from + index)))));
  }
  const slow = await Promise.all(Array.from({ length: plan.slow }, (_, index) => follow(kinds.length + index, true)));
  members.push(...slow);

  return {
    async heard(ids, ms) {
      const lacking = new Set<string>();
      const waits = members.flatMap((member) =>
        ids.map(async (id) => {
          lacking.add(`${member.uid} ${id}`);
          await member.heard(id, ms);
          lacking.delete(`${member.uid} ${id}`);
        }),
      );
      const what = () => `${lacking.size} of ${waits.length} deliveries, such as that to ${[...lacking][0]}`;
      await within(Promise.all(waits), what, ms);
    },
    async pause() {
      for (const member of slow) member.pause();
    },
    async resume() {
      for (const member of slow) member.resume();
    },
    async account(stored) {
      const positions = new Map(stored.map((id, index) => [id, index]));
      let verdict = flawless;
      for (const member of members)
        verdict = add(verdict, judge(member.ledger(), positions, member.isFollower || member.isOpen()));
      const brokenOf = (some: Member[]) => some.reduce((sum, member) => sum + member.broken(), 0);
      const [broken, brokenSlow] = [brokenOf(members) - brokenOf(slow), brokenOf(slow)];
      return { verdict, connections: opened, broken, brokenSlow, heardByAllAt };
    },
    [Symbol.dispose]() {
      for (const member of members) member.close();
    },
  };
}
