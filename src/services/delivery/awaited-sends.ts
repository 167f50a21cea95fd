import type { DeliveryFigures } from "../../contract/delivery.ts";
import { HeraldError } from "../../contract/errors/errors.ts";
import type { DeliveryCounts } from "../../contract/waits.ts";
import type { NewSend } from "../../store/ports.ts";
import type { Waits } from "./waits.ts";

/** A caller's wish to hear of the delivery of a send. */
export type WaitWish = {
  seconds: number;
  /** Aborts when the caller hangs up. */
  signal: AbortSignal;
};

/** What is known of the delivery after a wait of at most `seconds`, which took `tookMs` from when the send was stored. */
export type Waited = { seconds: number; tookMs: number; counts: DeliveryCounts };

/** What an append stored or found. */
type Stored = { outcome: "stored" | "replayed"; id: string };

/** Sends whose callers wait for the delivery. */
export type AwaitedSends = ReturnType<typeof createAwaitedSends>;

type Reported = { delivery: DeliveryFigures };

type Dependencies = {
  waits: Pick<Waits, "open">;
  /** Reads how many users a message was addressed to. */
  sent: { message(org: string, id: string): Promise<{ recipients: number | undefined } | undefined> };
  /** Reads the figures of earlier sends, as `DeliveryReports` does. */
  deliveryReports: {
    message(org: string, id: string): Promise<Reported>;
    systemMessage(org: string, mid: string, sender: string): Promise<Reported>;
  };
  onError(error: unknown): void;
};

/** Creates awaited sends. The store is asked once for each, after the append. */
export function createAwaitedSends({ waits, sent, deliveryReports, onError }: Dependencies) {
  async function recipientsOf(send: NewSend, id: string): Promise<number | undefined> {
    const { org, kind, uids = [] } = send;
    if (uids.length > 0) return uids.length;
    return kind === "message" ? (await sent.message(org, id))?.recipients : (await reportOf(send, id)).recipients;
  }

  async function reportOf({ org, kind, mid = "", sender }: NewSend, id: string): Promise<DeliveryCounts> {
    const { delivery } =
      kind === "message"
        ? await deliveryReports.message(org, id)
        : await deliveryReports.systemMessage(org, mid, sender);
    return countsOf(delivery);
  }

  /** What the store cannot tell is left out, as the send itself is stored. */
  async function ifKnown<Value>(read: Promise<Value>): Promise<Value | undefined> {
    try {
      return await read;
    } catch (error) {
      if (!(error instanceof HeraldError)) onError(error);
      return undefined;
    }
  }

  return {
    /**
     * Appends, then waits if that is possible. A replayed send does not wait: its counts are those of its
     * report, in which a user counts as online who has it. Rejects only if `append` does.
     */
    async follow<Found extends Stored>(
      send: NewSend,
      { seconds, signal }: WaitWish,
      append: () => Promise<Found>,
    ): Promise<Found & { waited?: Waited | undefined }> {
      const { org, id: event, kind, mid = event } = send;
      const wait = waits.open({ org, event, ack: kind === "message" ? event : mid, seconds, signal });
      try {
        const stored = await append();
        const storedAt = performance.now();
        if (stored.outcome === "replayed") {
          const counts = await ifKnown(reportOf(send, stored.id));
          return { ...stored, waited: counts && { seconds, tookMs: 0, counts } };
        }
        if (wait === undefined) return stored;
        const [counts, recipients] = await Promise.all([wait.counts, ifKnown(recipientsOf(send, stored.id))]);
        if (counts === undefined || recipients === undefined) return stored;
        const tookMs = performance.now() - storedAt;
        return { ...stored, waited: { seconds, tookMs, counts: { recipients, ...counts } } };
      } finally {
        wait?.end();
      }
    },
  };
}

function countsOf({ recipients, delivered_users, acknowledged_users }: DeliveryFigures): DeliveryCounts {
  return { recipients, online: delivered_users, delivered: delivered_users, acknowledged: acknowledged_users };
}
