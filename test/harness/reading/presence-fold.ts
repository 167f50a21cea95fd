import type { Received } from "../servers/receiver.ts";

/** What a webhook was told of presence. */
export type Fold = {
  /** Who is online by all parts, in order. */
  online: string[];
  /** How many parts there are. */
  parts: number;
  /** How often each user came or went. */
  turns: Map<string, number>;
};

/**
 * Folds what a receiver was told of presence, in the order of `seq`; `undefined` while one is missing. Throws if a `seq` stands for two
 * posts, or if somebody comes who is there or goes who is not.
 */
export function foldPresence(received: readonly Pick<Received, "webhook">[]): Fold | undefined {
  const posts = new Map<number, Received["webhook"]>();
  for (const { webhook } of received) {
    if (webhook.type !== "users.presence") continue;
    const known = posts.get(webhook.data.seq);
    if (known !== undefined && known.id !== webhook.id)
      throw new Error(`two posts have the number ${webhook.data.seq}`);
    posts.set(webhook.data.seq, webhook);
  }
  const online = new Set<string>();
  const turns = new Map<string, number>();
  const turn = (uid: string) => turns.set(uid, (turns.get(uid) ?? 0) + 1);
  for (let seq = 1; seq <= posts.size; seq++) {
    const webhook = posts.get(seq);
    if (webhook?.type !== "users.presence") return undefined;
    for (const uid of webhook.data.online) {
      if (online.has(uid)) throw new Error(`${uid} comes in ${seq} and is there`);
      online.add(uid);
      turn(uid);
    }
    for (const uid of webhook.data.offline) {
      if (!online.delete(uid)) throw new Error(`${uid} goes in ${seq} and is not there`);
      turn(uid);
    }
  }
  return { online: [...online].toSorted(), parts: posts.size, turns };
}
