import { createMapping, type Mapped, number, text } from "../sql/mapping.ts";
import type { WebhookQueue } from "../webhooks/ports.ts";

/** The columns of webhooks that are told who comes and goes. */
export const presencePlaces = createMapping({
  org: text("org"),
  webhook: text("webhook"),
  /** The number of the last part; 0 if nothing was told yet. */
  seq: number("seq"),
  /** The node that tells it. */
  holder: text("holder"),
  /** When another node may take over, in milliseconds since the Unix epoch, by the database's clock. */
  heldUntil: number("held_until"),
});

/** A webhook that is told who comes and goes. */
export type PresencePlace = Mapped<typeof presencePlaces>;

/** Who has come and who has gone: one post. */
export type PresencePart = { online: string[]; offline: string[] };

/** Reads what webhooks were told of presence. */
export type WebhookPresenceReads = {
  /** The first `limit` webhooks that this node holds or may take over, and the time on the database's clock. */
  followed(holder: string, limit: number): Promise<{ now: number; places: PresencePlace[] }>;
  /** Who is online by what the webhook was told. */
  told(place: WebhookQueue): Promise<Set<string>>;
};

/** Writes what webhooks are told of presence. */
export type WebhookPresenceWrites = {
  /** Takes or keeps a webhook for a node until then. Returns `seq`, or `undefined` if another node holds it at `now`. */
  hold(place: WebhookQueue, lease: { holder: string; now: number; until: number }): Promise<number | undefined>;
  /**
   * Stores the part after `seq`, with the delivery that tells it and who is online by then, in one commit. False if another node
   * holds the webhook or has told more; then nothing has changed.
   */
  tell(
    place: WebhookQueue,
    news: { holder: string; seq: number; now: number; until: number; part: PresencePart },
  ): Promise<boolean>;
  /** Lets other nodes take over at once. */
  release(holder: string): Promise<void>;
  /** Removes some of what a webhook that is gone was told. Returns whether anything is left. */
  forget(place: WebhookQueue, limit: number): Promise<boolean>;
};
