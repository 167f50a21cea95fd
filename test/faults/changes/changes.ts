import type { InboxItem, Page } from "../../harness/clients/wire.ts";
import { eventually, within } from "../../harness/deadline.ts";
import { createRandom } from "../../harness/random.ts";
import type { ClusterNode } from "../../harness/servers/cluster.ts";
import { createOrganization } from "../../harness/servers/organization.ts";
import { goodClaims, signToken } from "../../harness/servers/tokens.ts";
import { type Authors, author, type Deeds, notify, reader, schedule, sendLines, write } from "./authors.ts";
import { compareShown, judgeChanges, type Shown } from "./judge.ts";
import { type ChangeListener, listenToChanges } from "./listener.ts";

/**
 * An organization in which messages are edited, taken back, read, sent in batches and scheduled during a scenario, and system messages
 * are kept in inboxes; some of both expire.
 */
export type Changes = {
  /** Ends the changes, once each is answered, and returns what is wrong with them. Then closes all connections. */
  end(): Promise<string[]>;
  [Symbol.dispose](): void;
};

type Options = {
  nodes: readonly ClusterNode[];
  seed: number;
  /** Whether the database loses what it had acknowledged. */
  losesTail: boolean;
};

const cid = "the board";
const secondsBefore = 7_200;
const longestPauseMs = 300;
const settleWithinMs = 60_000;
const uids = [author, reader, "a listener", "a stream"];

/** Starts five authors and four listeners, two of them with streams, in an organization of their own. */
export async function startChanges({ nodes, seed, losesTail }: Options): Promise<Changes> {
  const [first] = nodes;
  if (first === undefined) throw new Error("changes without a node");
  const org = await createOrganization(first.herald);
  await org.conversation(uids, cid);
  const random = createRandom(seed + 1_000);
  const deeds: Deeds = { written: [], batched: [], scheduled: [], notices: [] };
  let texts = 0;
  const createText = () => `text ${++texts} of ${org.id}`;
  const authors: Authors = { nodes, random, org: org.id, cid, createText, losesTail, deeds };
  const urls = nodes.map(({ url }) => url);
  const listeners: ChangeListener[] = [];
  let isRunning = true;

  async function readList(): Promise<Shown> {
    return new Map((await org.history(cid)).map(({ _id, body }) => [_id, body]));
  }

  async function readInbox(): Promise<string[]> {
    const path = org.path("users", reader, "system-messages");
    const ids: string[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const query: string = cursor === "" ? "?limit=1000" : `?limit=1000&cursor=${encodeURIComponent(cursor)}`;
      const { body } = await org.herald.admin<Page<InboxItem>>("GET", `${path}${query}`);
      ids.push(...(body.items ?? []).map(({ _id }) => _id));
      ({ cursor } = body);
    }
    return ids;
  }

  /** What listeners show differently from lists, once they had time to hear everything. */
  async function awaitSameViews(): Promise<string[]> {
    let wrong: string[] = [];
    const isSame = async () => {
      const listed = await readList();
      wrong = listeners.flatMap((listener) => [...compareShown(listener, listed)]);
      return wrong.length === 0 || undefined;
    };
    await eventually(isSame, "listeners to be current", settleWithinMs).catch(() => undefined); // told by `wrong`
    return wrong.slice(0, 5);
  }

  async function keep(work: (authors: Authors) => Promise<void>): Promise<void> {
    while (isRunning) {
      await work(authors);
      await Bun.sleep(random.next() * longestPauseMs);
    }
  }

  async function isNothingWaiting(): Promise<true | undefined> {
    const path = `${org.path("scheduled")}?state=waiting`;
    return (await org.herald.admin<Page<unknown>>("GET", path)).body.items?.length === 0 || undefined;
  }

  async function listen(uid: string, isStream: boolean, known?: { id: string; text: string }): Promise<void> {
    const token = await signToken(oldClaims(org.id, uid));
    listeners.push(await listenToChanges({ uid, token, cid, urls, random, isStream, known }));
  }

  for (const [index, uid] of uids.entries()) await listen(uid, index % 2 === 1);
  const text = createText();
  const id = (await org.sent(author, { cid, body: text })).server_mid;
  const isHeard = () => listeners.every(({ shown }) => shown.has(id)) || undefined;
  await eventually(isHeard, "all listeners to hear the first message");
  const working = Promise.all([keep(write), keep(write), keep(sendLines), keep(schedule), keep(notify)]);
  working.catch(() => undefined); // reported by `end`

  function close(): void {
    isRunning = false;
    for (const listener of listeners) listener.close();
  }

  return {
    async end() {
      isRunning = false;
      try {
        await within(working, "every change to be answered", settleWithinMs);
        await eventually(isNothingWaiting, "nothing to be scheduled any more", settleWithinMs);
        await org.sent(author, { cid, body: "the last" });
        await listen(reader, false, { id, text }); // hears what `since` gives, which must not be what was taken back
        const views = losesTail ? [] : await awaitSameViews();
        const found = { listed: await readList(), inbox: await readInbox() };
        return [...views, ...judgeChanges({ deeds, ...found, listeners, losesTail })];
      } finally {
        close();
      }
    },
    [Symbol.dispose]: close,
  };
}

/** The claims of a token issued long before now, so that a node whose clock is behind accepts it. */
function oldClaims(org: string, uid: string) {
  const { iat = 0, exp = 0, ...claims } = goodClaims(org, uid);
  return { ...claims, iat: iat - secondsBefore, exp: exp + secondsBefore };
}
