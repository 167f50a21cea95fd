import { useEffect, useRef, useState } from "preact/hooks";
import { HeraldApiError } from "../../sdk/errors.ts";
import type { WebhookDelivery } from "../../sdk/webhook-types.ts";
import { useConsole } from "./context.ts";
import { readOn, useAction } from "./loading.ts";

/** The most deliveries that one run posts again. */
export const mostRedelivered = 1_000;

const pageSize = 100; // the largest page of deliveries that the server returns

/** How far a run is. */
export type Redelivery = {
  /** How many deliveries were found, until now. */
  found: number;
  /** Whether all of them were found, and are posted again now. */
  isPosting: boolean;
  posted: number;
  /** How many were gone when their turn came. */
  gone: number;
  hasMore: boolean;
  isStopped: boolean;
};

const begun: Redelivery = { found: 0, isPosting: false, posted: 0, gone: 0, hasMore: false, isStopped: false };

/**
 * Whether a delivery can be posted again: not before its first try, nor once it is cancelled. Tests cannot, nor what tells about
 * something that is gone.
 */
export function canBeRedelivered({ state, tries, request }: WebhookDelivery): boolean {
  if (request === null || request.type === "webhook.test") return false;
  return state === "waiting" ? tries > 0 : state !== "cancelled";
}

/**
 * Posts again what a webhook has not delivered, one by one: what failed for good, and then what waits for its next try, each the newest
 * first. It ends when it is stopped, and with its component.
 */
export function useRedelivery(org: string, id: string) {
  const { client } = useConsole();
  const [progress, setProgress] = useState<Redelivery>();
  const isStopped = useRef(false);
  useEffect(
    () => () => {
      isStopped.current = true;
    },
    [],
  );
  const note = (change: Partial<Redelivery>) => setProgress((before) => ({ ...(before ?? begun), ...change }));

  /** The ids of deliveries that failed, or whose last try did. */
  const find = async (): Promise<string[]> => {
    const found: string[] = [];
    let hasMore = false;
    for (const state of ["failed", "waiting"] as const) {
      let cursor: string | undefined;
      do {
        const page = await readOn(
          (at) =>
            client.listWebhookDeliveries(org, id, { state, limit: pageSize, ...(at !== undefined && { cursor: at }) }),
          cursor,
        );
        found.push(...page.items.filter(canBeRedelivered).map((delivery) => delivery.id));
        cursor = page.cursor ?? undefined;
        note({ found: Math.min(found.length, mostRedelivered) });
      } while (cursor !== undefined && found.length < mostRedelivered && !isStopped.current);
      hasMore ||= cursor !== undefined;
    }
    note({ hasMore: hasMore || found.length > mostRedelivered });
    return found.slice(0, mostRedelivered);
  };

  const redelivery = useAction(async () => {
    isStopped.current = false;
    setProgress(begun);
    const found = await find();
    note({ isPosting: true });
    let posted = 0;
    let gone = 0;
    for (const delivery of found) {
      if (isStopped.current) break;
      try {
        await client.redeliverWebhook(org, id, delivery);
        posted++;
      } catch (error) {
        if (!(error instanceof HeraldApiError) || error.status !== 404) throw error;
        gone++;
      }
      note({ posted, gone });
    }
    note({ isStopped: isStopped.current });
  });
  return {
    ...redelivery,
    progress,
    stop: () => {
      isStopped.current = true;
    },
  };
}
