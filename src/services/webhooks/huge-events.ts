import type { Unreached } from "../../contract/webhooks/payloads.ts";
import type { SteadyClock } from "../../lib/time/clock.ts";
import type { DueEvent, ToldSoFar, WebhookDeliveryReads, WebhookDeliveryWrites } from "../../store/webhooks/ports.ts";
import { type Asked, deliveryOf, type NewDelivery } from "./asked.ts";
import { createPacker, deliveriesOfCommit, type Part } from "./payloads.ts";
import type { UnreachedPages } from "./unreached.ts";

/** Settles events with very many recipients in the background, a few parts per commit. */
export type HugeEvents = ReturnType<typeof createHugeEvents>;

type Dependencies = {
  openPages: UnreachedPages;
  webhookDeliveries: Pick<WebhookDeliveryWrites, "settleParts"> & Pick<WebhookDeliveryReads, "get">;
  elapsed: SteadyClock;
  /** Called when there are new deliveries. */
  onParts(): void;
  /** Called when there is room again. */
  onRoom(): void;
  onError(error: unknown): void;
};

const atOnce = 2;
const partsAtOnce = deliveriesOfCommit / 2; // new rows, with their indexes
// A claim: when it ends, because its node died or cannot reach the database, the event is due again.
const holdMs = 60_000;
const renewAfterMs = 15_000;

/**
 * Creates the settlement of such events. It counts the parts first, as each one states the total. If a node dies, another one
 * resumes after its last commit; users who were reached meanwhile may then leave fewer parts than stated.
 */
export function createHugeEvents({ openPages, webhookDeliveries, elapsed, onParts, onRoom, onError }: Dependencies) {
  const running = new Set<Promise<void>>();
  let isStopped = false;

  /** This node's claim on an event. A node that is too slow loses it. */
  function createClaim(held: DueEvent, time: () => number) {
    let due: DueEvent | undefined = held;
    const change = async (next: Pick<DueEvent, "dueAt" | "told"> | undefined, deliveries: NewDelivery[] = []) => {
      if (due !== undefined) due = await webhookDeliveries.settleParts(due, next, deliveries);
      if (due !== undefined && deliveries.length > 0) onParts();
    };
    return {
      /** Whether to stop, because the claim was lost or the node stops. Renews the claim in time. */
      async isOver(): Promise<boolean> {
        if (isStopped) await change({ dueAt: time(), told: due?.told });
        else if (due !== undefined && due.dueAt - time() < holdMs - renewAfterMs)
          await change({ dueAt: time() + holdMs, told: due.told });
        return isStopped || due === undefined;
      },
      store: (told: ToldSoFar, deliveries: NewDelivery[]) => change({ dueAt: time() + holdMs, told }, deliveries),
      finish: (deliveries: NewDelivery[]) => change(undefined, deliveries),
    };
  }

  /** The user after whom to continue: the last one of the last stored delivery. */
  async function placeAfter({ org, webhook }: DueEvent, { last }: ToldSoFar): Promise<string> {
    if (last === undefined) return "";
    const delivery = await webhookDeliveries.get(org, webhook, last);
    const users: Unreached[] = JSON.parse(delivery?.unreached ?? "[]");
    return users.at(-1)?.uid ?? "";
  }

  async function tell(asked: Asked, held: DueEvent, now: number): Promise<void> {
    const begunAt = elapsed.now();
    const claim = createClaim(held, () => Math.round(now + elapsed.now() - begunAt));
    const read = await openPages(asked.event, asked.hook.until);

    async function count(): Promise<ToldSoFar | undefined> {
      const packer = createPacker(asked.event);
      let parts = 0;
      for await (const users of read("")) {
        parts += packer.add(users).length;
        if (await claim.isOver()) return undefined;
      }
      return { last: undefined, part: 0, parts: parts + packer.rest().length, bytes: asked.event.bytes };
    }

    const deliveriesOf = (parts: readonly Part[], { part, parts: all }: ToldSoFar) =>
      parts.map((users, index) => deliveryOf(asked, { users, part: part + index + 1, parts: all }, now));

    let told = asked.told ?? (await count());
    if (told === undefined) return;
    const packer = createPacker(told);
    let full: Part[] = [];
    for await (const users of read(await placeAfter(held, told))) {
      full.push(...packer.add(users));
      while (full.length >= partsAtOnce) {
        const deliveries = deliveriesOf(full.slice(0, partsAtOnce), told);
        full = full.slice(partsAtOnce);
        told = { ...told, last: deliveries.at(-1)?.id, part: told.part + deliveries.length };
        await claim.store(told, deliveries);
      }
      if (await claim.isOver()) return;
    }
    await claim.finish(deliveriesOf([...full, ...packer.rest()], told));
  }

  async function run(asked: Asked, held: DueEvent, now: number): Promise<void> {
    try {
      await tell(asked, held, now);
    } catch (error) {
      onError(error); // it is due again when the claim ends
    }
  }

  return {
    /** Claims an event for this node and starts on it. False if there is no room or another node was faster. */
    async take(asked: Asked, now: number): Promise<boolean> {
      if (isStopped || running.size >= atOnce) return false;
      const { event: _event, hook: _hook, ...due } = asked;
      const held = await webhookDeliveries.settleParts(due, { dueAt: now + holdMs, told: asked.told }, []);
      if (held === undefined) return false;
      const telling = run(asked, held, now).finally(() => {
        running.delete(telling);
        onRoom();
      });
      running.add(telling);
      return true;
    },
    /** Stops after the current commits, and resolves then. Other nodes continue with what is left. */
    async stop(): Promise<void> {
      isStopped = true;
      await Promise.all(running);
    },
  };
}
