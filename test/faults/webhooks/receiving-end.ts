import type { Organization } from "../../harness/servers/organization.ts";
import { hooksOf, type Received, startReceiver } from "../../harness/servers/receiver.ts";
import type { Told } from "./judge.ts";

/** A webhook and the server that it leads to, which can fail in two ways. */
export type ReceivingEnd = {
  /** The server is gone, so that nobody answers at its port; returns the function that starts it again. */
  leave(): () => void;
  /** The server takes posts and does not answer; returns the function that lets it answer all of them. */
  stall(): () => void;
  /** What it was told, once for each id. */
  told(): Told[];
  /** About how many messages it was told. */
  messages(): number;
  /** How many posts came, how many of them a second time or more, and how many were refused as they were not signed. */
  figures(): { posts: number; again: number; refused: number };
  /** How long after it was due the last post came that came for the first time, in milliseconds. */
  worstLateMs(): number;
  [Symbol.dispose](): void;
};

type Options = {
  org: Organization;
  id: string;
  waitSeconds: number;
  /** The time of the receiver, in milliseconds since the Unix epoch. */
  now: () => number;
};

/** Creates a webhook about messages, and what it leads to. */
export async function openReceivingEnd({ org, id, waitSeconds, now }: Options): Promise<ReceivingEnd> {
  let stalled: Promise<void> | undefined;
  const answer = async () => {
    await stalled;
    return new Response(null, { status: 204 });
  };
  const first = startReceiver(answer, { now });
  const { port, secrets } = first;
  const receivers = [first];
  const told = new Map<string, Told>();
  const messages = new Set<string>();
  let [looked, lookedAt] = [0, 0]; // at which receiver, and how many of its posts
  let worstLateMs = 0;

  function note({ webhook, at }: Received): void {
    if (webhook.type !== "message.unreached" || told.has(webhook.id)) return;
    const { message, part, unreached } = webhook.data;
    const uids = unreached.map(({ uid }) => uid);
    const found = { messageId: message._id, at: Date.parse(webhook.timestamp), part, uids };
    told.set(webhook.id, { webhookId: webhook.id, ...found });
    messages.add(message._id);
    worstLateMs = Math.max(worstLateMs, at - Date.parse(message.created_at) - waitSeconds * 1_000);
  }

  function look(): void {
    for (; looked < receivers.length; looked++, lookedAt = 0) {
      const received = receivers[looked]?.received ?? [];
      for (; lookedAt < received.length; lookedAt++) {
        const post = received[lookedAt];
        if (post !== undefined) note(post);
      }
      if (looked === receivers.length - 1) return; // more may come
    }
  }

  await hooksOf(org).toReceiver(id, first, { wait_seconds: waitSeconds });
  return {
    leave() {
      receivers.at(-1)?.[Symbol.dispose]();
      return () => {
        const next = startReceiver(answer, { port, now });
        next.secrets.push(...secrets);
        receivers.push(next);
      };
    },
    stall() {
      const { promise, resolve } = Promise.withResolvers<void>();
      stalled = promise;
      return () => {
        stalled = undefined;
        resolve();
      };
    },
    told() {
      look();
      return [...told.values()];
    },
    messages() {
      look();
      return messages.size;
    },
    figures() {
      look();
      const posts = receivers.reduce((sum, { received }) => sum + received.length, 0);
      return { posts, again: posts - told.size, refused: receivers.reduce((sum, one) => sum + one.faults(), 0) };
    },
    worstLateMs() {
      look();
      return worstLateMs;
    },
    [Symbol.dispose]: () => receivers.at(-1)?.[Symbol.dispose](),
  };
}
