import type { Webhook } from "../../../sdk/webhooks.ts";
import type { Attempt } from "../../../src/services/webhooks/attempts.ts";
import type { Random } from "../../harness/random.ts";
import { pause } from "../models/time.ts";
import type { PresenceClimate } from "./climate.ts";

/** A post that a receiver took. `bytes`: the size of its body. */
export type Post = { url: string; webhook: Webhook; bytes: number; at: number };

type Options = { random: Random; climate: PresenceClimate; now(): number; posts: Post[] };

const longestMs = 50;

/**
 * Creates the receivers of all webhooks. They fail some posts, and take some without being heard, but none twice: the third try
 * would come minutes later.
 */
export function createReceiver({ random, climate, now, posts }: Options): Attempt {
  const tried = new Set<string>();
  return async ({ url }, { id, body, now: at }) => {
    const isFirst = !tried.has(id);
    tried.add(id);
    const beganAt = now();
    const fate = isFirst ? random.next() : 1;
    await pause(random.integer(0, longestMs));
    const isFailed = fate < climate.failedPosts;
    const isUnheard = !isFailed && fate < climate.failedPosts + climate.unheardPosts;
    if (!isFailed) posts.push({ url, webhook: { id, ...JSON.parse(body) }, bytes: Buffer.byteLength(body), at: now() });
    const durationMs = now() - beganAt;
    if (isFailed) return { at, durationMs, status: 500, error: "the receiver answered 500", answer: "" };
    if (isUnheard) return { at, durationMs, status: null, error: "the connection broke", answer: null };
    return { at, durationMs, status: 204, error: null, answer: "" };
  };
}
