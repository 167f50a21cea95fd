import { within } from "../harness/deadline.ts";
import { createRandom } from "../harness/random.ts";
import { goodClaims, signToken } from "../harness/servers/tokens.ts";
import { add, createChronicle, flawless, judge, type Past, type Verdict } from "./judging/verdict.ts";
import { type Follower, follow, followByStream, type Member, type Place, stream, witness } from "./members.ts";

const connectAtOnce = 100;
const secondsBefore = 7_200;

/** How many listen, and how. */
export type Listeners = {
  /** Clients that follow the contract: they reconnect with `since`, to any node, after every break. */
  followers: number;
  /** The same over streams, which reconnect with `Last-Event-ID`. */
  streamFollowers: number;
  /** Sockets and streams that are opened once; a break ends them. */
  witnesses: number;
  streams: number;
  /** Followers that stop reading on demand. */
  slow: number;
  /** All start at the first node, instead of taking turns. */
  beginTogether?: boolean;
};

/** The listeners as plain data, which can be sent to another process. */
export type AudiencePlan = Listeners & { org: string; urls: string[]; seed: number };

/** What connections heard in the end. Times in milliseconds since the Unix epoch. */
export type Hearing = {
  verdict: Verdict;
  connections: number;
  /** The number of connections broken by others than us; slow ones are counted separately. */
  broken: number;
  brokenSlow: number;
  /** The codes with which sockets ended, except slow ones; 1006 means none. */
  closeCodes: number[];
  /** When a message had reached every follower that is not slow. */
  heardByAllAt: [id: string, at: number][];
};

/** Everyone who listens during a scenario. */
export type Audience = {
  /** Resolves once everyone present has heard these messages, and every follower has returned for them. */
  heard(ids: string[], ms: number): Promise<void>;
  /** Makes the slow ones stop reading, or resume. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Compares what was heard with the messages of the store, and with those that it had and lost. */
  account(stored: string[], pasts: readonly Past[]): Promise<Hearing>;
  /** Closes every connection. */
  [Symbol.dispose](): void;
};

/** The users who listen, one per listener: they must be participants. */
export function usersOf({ followers, streamFollowers, witnesses, streams, slow }: Listeners): string[] {
  const length = followers + streamFollowers + witnesses + streams + slow;
  return Array.from({ length }, (_, index) => `listener ${index}`);
}

/** Those of them who reconnect and keep reading. */
export function followersOf(listeners: Listeners): string[] {
  return usersOf(listeners).slice(0, listeners.followers + listeners.streamFollowers);
}

/** Opens every connection of the plan; resolves once all are established. */
export async function openAudience(plan: AudiencePlan): Promise<Audience> {
  const { urls } = plan;
  const random = createRandom(plan.seed);
  const heardBy = new Map<string, number>();
  const heardByAllAt: [string, number][] = [];
  const slow: Follower[] = [];

  function onHeard(id: string): void {
    const count = (heardBy.get(id) ?? 0) + 1;
    heardBy.set(id, count);
    if (count === plan.followers + plan.streamFollowers) heardByAllAt.push([id, Date.now()]);
  }

  async function followSlowly(place: Place): Promise<Follower> {
    const follower = await follow(place, { urls, random, onFirstSeen: () => undefined });
    slow.push(follower);
    return follower;
  }

  const ways = { urls, random, onFirstSeen: onHeard };
  const repeat = (count: number, open: (place: Place) => Promise<Member>) => Array.from({ length: count }, () => open);
  const kinds = [
    ...repeat(plan.followers, (place) => follow(place, ways)),
    ...repeat(plan.streamFollowers, (place) => followByStream(place, ways)),
    ...repeat(plan.witnesses, witness),
    ...repeat(plan.streams, stream),
    ...repeat(plan.slow, followSlowly),
  ];
  const openings = usersOf(plan).map((uid, index) => async () => {
    const url = urls[plan.beginTogether === true ? 0 : index % urls.length] ?? "";
    return kinds[index]?.({ uid, url, token: await createToken(plan.org, uid) });
  });
  using opening = new DisposableStack();
  const members: Member[] = [];
  for (let from = 0; from < openings.length; from += connectAtOnce) {
    for (const opened of await Promise.all(openings.slice(from, from + connectAtOnce).map((open) => open()))) {
      if (opened === undefined) continue;
      members.push(opened);
      opening.defer(opened.close);
    }
  }
  const connections = opening.move();

  return {
    async heard(ids, ms) {
      const lacking = new Set<string>();
      const waits = members.flatMap((member) =>
        ids.map(async (id) => {
          const delivery = `${id} to ${member.uid}`;
          lacking.add(delivery);
          await member.heard(id);
          lacking.delete(delivery);
        }),
      );
      const what = () => `${lacking.size} of ${waits.length} deliveries, such as ${[...lacking][0]}`;
      await within(Promise.all(waits), what, ms);
    },
    async pause() {
      for (const member of slow) member.pause();
    },
    async resume() {
      for (const member of slow) member.resume();
    },
    async account(stored, pasts) {
      const chronicle = createChronicle(stored, pasts);
      const verdict = members.map((member) => judge(member.runs(), chronicle, member.isThere())).reduce(add, flawless);
      const sum = (some: Member[], count: (member: Member) => number) =>
        some.reduce((total, member) => total + count(member), 0);
      const brokenSlow = sum(slow, (member) => member.broken());
      const broken = sum(members, (member) => member.broken()) - brokenSlow;
      const ended = members.filter((member) => !slow.some((one) => one === member)).flatMap((member) => member.runs());
      const closeCodes = [...new Set(ended.flatMap(({ joinedAt, closeCode }) => (joinedAt && closeCode) || []))];
      const connections = sum(members, (member) => member.opened());
      return { verdict, connections, broken, brokenSlow, closeCodes, heardByAllAt };
    },
    [Symbol.dispose]: () => connections.dispose(),
  };
}

/** Creates a long-lived token issued long before now, so that a node whose clock is behind accepts it. */
function createToken(org: string, uid: string): Promise<string> {
  const { iat = 0, exp = 0, ...claims } = goodClaims(org, uid);
  return signToken({ ...claims, iat: iat - secondsBefore, exp: exp + secondsBefore });
}
