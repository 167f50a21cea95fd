import { firstWithin } from "../../lib/queues/first-within.ts";
import type {
  DueEvent,
  ReportedEvent,
  UnreachedReads,
  WebhookDeliveryWrites,
  WebhookReads,
} from "../../store/webhooks/ports.ts";
import { type Asked, deliveryOf, type NewDelivery } from "./asked.ts";
import { createDueTurns } from "./due-turns.ts";
import type { HugeEvents } from "./huge-events.ts";
import { partsOf } from "./payloads.ts";
import { createReports, type Report } from "./unreached.ts";

type Dependencies = {
  unreached: UnreachedReads;
  webhooks: Pick<WebhookReads, "among">;
  webhookDeliveries: Pick<WebhookDeliveryWrites, "settle">;
  hugeEvents: Pick<HugeEvents, "take">;
  /** From how many recipients on an event is told beside the others. */
  mostOfLarge?: number;
};

const mostOfSmall = 2_000;
const mostKnownHuge = 1_000;

/**
 * Creates the function that turns some of the events that were due by `dueBy` into deliveries, thousands in a few queries. An event
 * with many recipients is settled alone, one with very many in the background. `late`: another node was faster. Rejects like the
 * store; then nothing has changed, or the outcome is unknown.
 */
export function createDueEvents(dependencies: Dependencies) {
  const { unreached, webhooks, webhookDeliveries, hugeEvents, mostOfLarge = 20_000 } = dependencies;
  const reports = createReports(unreached);
  const nextDue = createDueTurns(unreached);
  const knownHuge = new Set<string>(); // events to everyone, whose recipients are not counted again while they wait

  /** Settles the first large event that can be settled now. Returns the number of events settled: 0 or 1. */
  async function settleLarge(large: readonly Asked[], now: number): Promise<number> {
    for (const one of large) {
      const report =
        one.told !== undefined || knownHuge.has(one.event.id) ? undefined : await reports.of(one.event, mostOfLarge);
      if (report !== undefined) return await settle([one], [one], () => report, now);
      if (knownHuge.size >= mostKnownHuge) knownHuge.clear();
      knownHuge.add(one.event.id);
      if (await hugeEvents.take(one, now)) return 1;
    }
    return 0;
  }

  /** The due events that still exist and whose webhook is on. */
  async function askedOf(due: readonly DueEvent[]): Promise<Asked[]> {
    const named = new Map(due.map(({ org, eventId: id }) => [id, { org, id }]));
    const orgs = [...new Set(due.map(({ org }) => org))];
    const [events, hooks] = await Promise.all([
      unreached.events([...named.values()]),
      webhooks.among(orgs, [...new Set(due.map(({ webhook }) => webhook))]),
    ]);
    const eventOf = new Map(events.map((event) => [event.id, event]));
    const hookOf = new Map(hooks.map((hook) => [hook.ref, hook]));
    return due.flatMap((one): Asked[] => {
      const [event, hook] = [eventOf.get(one.eventId), hookOf.get(one.webhook)];
      if (event === undefined || event.bytes === 0 || hook === undefined || hook.disabledAt !== null) return [];
      return [{ ...one, event, hook }];
    });
  }

  async function settle(
    due: readonly DueEvent[],
    asked: readonly Asked[],
    reportOf: (id: string) => Report,
    now: number,
  ) {
    const deliveries = asked.flatMap((one) => deliveriesOf(one, reportOf(one.eventId), now));
    return await webhookDeliveries.settle(due, deliveries);
  }

  return async (dueBy: number, now: number): Promise<"none" | "settled" | "late"> => {
    const due = await nextDue(dueBy);
    if (due.length === 0) return "none";
    const asked = await askedOf(due);
    const large = asked.filter(({ event }) => isLarge(event));
    const small = asked.filter(({ event }) => !isLarge(event));
    const some = firstWithin(small, ({ event }) => weightOf(event), mostOfSmall);
    const taken = new Set(some);
    const left = new Set(asked.filter((one) => !taken.has(one)).map(keyOf));
    const over = due.filter((one) => !left.has(keyOf(one)));
    let settled = 0;
    if (over.length > 0) {
      const found = await reports.ofAll(distinctEvents(some));
      settled += await settle(over, some, (id) => found.get(id) ?? noReport, now);
    }
    settled += await settleLarge(large, now);
    return settled === 0 ? "late" : "settled";
  };
}

const noReport: Report = () => [];

function weightOf({ recipients }: ReportedEvent): number {
  return Math.max(1, recipients);
}

function isLarge(event: ReportedEvent): boolean {
  return event.address === "everyone" || weightOf(event) > mostOfSmall;
}

function keyOf({ org, offset, webhook }: DueEvent): string {
  return JSON.stringify([org, offset, webhook]);
}

function distinctEvents(asked: readonly Asked[]): ReportedEvent[] {
  return [...new Map(asked.map(({ event }) => [event.id, event])).values()];
}

function deliveriesOf(asked: Asked, report: Report, now: number): NewDelivery[] {
  const parts = partsOf(asked.event, report(asked.hook.until));
  return parts.map((users, index) => deliveryOf(asked, { users, part: index + 1, parts: parts.length }, now));
}
