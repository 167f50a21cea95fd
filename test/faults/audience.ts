import { within } from "../harness/deadline.ts";
import { createRandom } from "../harness/random.ts";
import { goodClaims, signToken } from "../harness/servers/tokens.ts";
import { add, createChronicle, flawless, judge, type Past, type Verdict } from "./judging/verdict.ts";
import { type Follower, follow, followByStream, type Member, type Place, stream, witness } from "./members.ts";

const connectAtOnce = 100;
const secondsBefore = 7_200;

/** How many listen, and how. */
export type Listeners = {
  /** Clients as the contract wants them: they come back with `since`, somewhere, after every break. */
  followers: number;
  /** The same over streams, which come back with `Last-Event-ID`. */
  streamFollowers: number;
  /** Sockets and streams that are opened once; when they break they are out. */
  witnesses: number;
  streams: number;
  /** Followers that stop reading when they are told to. */
  slow: number;
  /** All begin at the first node, and not at one after another. */
  beginTogether?: boolean;
};

/** Who listens. Plain data, so that it can be sent to another process. */
export type AudiencePlan = Listeners & { org: string; urls: string[]; seed: number };

/** What connections heard, at the end. Times in milliseconds since the Unix epoch. */
export type Hearing = {
  verdict: Verdict;
  connections: number;
  /** How many connections were broken by others than us; those of the slow ones are counted apart. */
  broken: number;
  brokenSlow: number;
  /** The codes with which sockets ended, slow ones aside; 1006 means none. */
  closeCodes: number[];
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
  /** Compares what was heard with the messages of the store, and with those that it had and lost. */
  account(stored: string[], pasts: readonly Past[]): Promise<Hearing>;
  /** Closes every connection. */
  [Symbol.dispose](): void;
};

/** The users who listen, one for each listener: they must be participants. */
export function usersOf({ followers, streamFollowers, witnesses, streams, slow }: Listeners): string[] {
  const length = followers + streamFollowers + witnesses + streams + slow;
  return Array.from({ length }, (_, index) => `listener ${index}`);
}

/** Those of them who come back and go on reading. */
export function followersOf(listeners: Listeners): string[] {
  return usersOf(listeners).slice(0, listeners.followers + listeners.streamFollowers);
}

/** Opens every connection of the plan, and resolves when all of them are there. */
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

/** A token that was made long before now, so that a node whose clock is behind takes it, and is good for long. */
function createToken(org: string, uid: string): Promise<string> {
  const { iat = 0, exp = 0, ...claims } = goodClaims(org, uid);
  return signToken({ ...claims, iat: iat - secondsBefore, exp: exp + secondsBefore });
}
