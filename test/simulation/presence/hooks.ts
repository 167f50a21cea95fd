import type { Random } from "../../harness/random.ts";
import { pause } from "../models/time.ts";
import type { PresenceClimate } from "./climate.ts";
import type { Hook } from "./judge.ts";
import type { Node } from "./node.ts";

type Options = {
  random: Random;
  climate: PresenceClimate;
  now(): number;
  pickNode(): Node | undefined;
  /** Called before a webhook is removed. */
  onRemoval(hook: Hook): void;
};

const againMs = 200;

/** Puts a webhook, and may change it and take it away, through any node. */
export async function runHook({ random, climate, now, pickNode, onRemoval }: Options, hook: Hook): Promise<void> {
  const { org, ref, url, waitMs } = hook;

  /** Makes a change until it is made. */
  async function change(work: (node: Node) => Promise<unknown>): Promise<void> {
    await pause(random.integer(0, climate.activeMs / 3));
    for (;;) {
      const node = pickNode();
      try {
        if (node !== undefined && (await Promise.race([work(node), node.died])) !== "died") return;
      } catch {
        // the database was away
      }
      await pause(againMs);
    }
  }

  const put = (events: ("users.presence" | "message.read")[]) =>
    change(({ webhooks }) =>
      webhooks.put(org, { id: ref, ref, url, events, waitMs, until: "delivered", secret: "s", now: 0, most: 10 }),
    );

  await put(["users.presence"]);
  hook.since = now();
  if (climate.isSwitched) {
    await put(["message.read"]);
    await put(["users.presence"]);
  }
  if (!climate.isRemoved || !ref.endsWith("w2")) return;
  onRemoval(hook);
  await change(({ webhooks }) => webhooks.remove(org, ref));
}
