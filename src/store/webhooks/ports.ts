import type { UnreachedEvent, UnreachedUntil } from "../../contract/webhooks/payloads.ts";
import type { EntityPage, KeyProof } from "../ports.ts";

/** A secret that signs, newest first. `endsAt` is `null` for the current one. Times in milliseconds since the Unix epoch. */
export type WebhookSecret = { secret: string; endsAt: number | null };

/** A webhook of an organization. */
export type StoredWebhook = {
  org: string;
  id: string;
  /** Another one for each webhook, also for one that has the id of a deleted one. */
  ref: string;
  url: string;
  events: UnreachedEvent[];
  waitMs: number;
  until: UnreachedUntil;
  secrets: WebhookSecret[];
  createdAt: number;
  /** When it was switched off, as its receiver asked for it (410). */
  disabledAt: number | null;
};

/** A webhook to be stored. `ref` and `secret` are used only if there is none of this id. */
export type NewWebhook = Pick<StoredWebhook, "id" | "ref" | "url" | "events" | "waitMs" | "until"> & {
  secret: string;
  now: number;
  /** How many webhooks the organization may have. */
  most: number;
};

/** The outcome of storing a webhook. */
export type WebhookOutcome =
  | { outcome: "done"; webhook: StoredWebhook; isNew: boolean }
  | { outcome: "missing" }
  | { outcome: "too_many" };

/** Reads webhooks. */
export type WebhookReads = {
  get(org: string, id: string): Promise<StoredWebhook | undefined>;
  /** By id. */
  list(org: string, page: EntityPage): Promise<StoredWebhook[]>;
  /** Those of these organizations with one of `refs`. */
  among(orgs: readonly string[], refs: readonly string[]): Promise<StoredWebhook[]>;
};

/** Writes webhooks. What they wait for holds for every event that is committed after the change. */
export type WebhookWrites = {
  /** Creates or changes a webhook, and switches it on. */
  put(org: string, webhook: NewWebhook, by?: KeyProof): Promise<WebhookOutcome>;
  /** Adds a secret; earlier ones end at `othersEndAt`, those that have ended by `now` go. `undefined` if there is no such webhook. */
  rotate(
    org: string,
    id: string,
    change: { secret: string; othersEndAt: number; now: number },
    by?: KeyProof,
  ): Promise<StoredWebhook | undefined>;
  /** Switches the webhook off. False if it is off, or gone. */
  disable(org: string, ref: string, now: number): Promise<boolean>;
  remove(org: string, id: string): Promise<boolean>;
};

/** An event that a webhook asks about. `told` is there while a node tells it in several commits. */
export type DueEvent = {
  org: string;
  offset: number;
  webhook: string;
  eventId: string;
  dueAt: number;
  told: ToldSoFar | undefined;
};

/** How far an event is told: its last delivery, if there is one, the number of that, of how many, and how large its text was. */
export type ToldSoFar = { last: string | undefined; part: number; parts: number; bytes: number };

/** An event as webhooks tell it, without its text. */
export type ReportedEvent = {
  org: string;
  id: string;
  offset: number;
  kind: "message" | "system";
  cid: string | undefined;
  /** How large the text is; 0 if it was taken back. */
  bytes: number;
  /** Whom it goes to, as in `addressOf`. */
  address: "users" | "conversation" | "everyone";
  /** About how many users that are at most; unknown for everyone. */
  recipients: number;
};

/** The text of an event; empty if it was taken back. */
export type EventText = Pick<ReportedEvent, "org" | "id" | "kind"> & { payload: string };

/** Who has an event, and who has acknowledged it. */
export type Fates = { delivered: ReadonlySet<string>; acknowledged: ReadonlySet<string> };

/** A place among the recipients of an event, by user. */
export type RecipientPage = { after: string; limit: number };

/** An event by its id. */
export type EventName = { org: string; id: string };

/** Reads the texts that webhooks post. */
export type EventTextReads = {
  /** Those of the events that are still there, in conversations that are. */
  texts(named: readonly EventName[]): Promise<EventText[]>;
};

/** Reads what webhooks tell about events. */
export type UnreachedReads = {
  /** At most `limit` events that are due by `now`, those that have been due longest first. */
  due(now: number, limit: number): Promise<DueEvent[]>;
  /** The same of each of the next organizations by id that have any: at most `each` of at most `orgs`, one list for each. */
  dueOfEach(now: number, page: { after: string; orgs: number; each: number }): Promise<DueEvent[][]>;
  /** Those of the events that are still there, in conversations that are. */
  events(named: readonly EventName[]): Promise<ReportedEvent[]>;
  /** The users that system messages list, by event id. */
  lists(named: readonly EventName[]): Promise<Map<string, string[]>>;
  /** Who has these events, by event id. */
  fates(events: readonly ReportedEvent[]): Promise<Map<string, Fates>>;
  /** All who take part in these conversations, each with the offset after which messages are addressed to the user. */
  participants(
    conversations: readonly { org: string; cid: string }[],
  ): Promise<{ org: string; cid: string; uid: string; after: number }[]>;
  /** Those of the users who exist, and when they began. */
  users(named: readonly { org: string; uid: string }[]): Promise<{ org: string; uid: string; after: number }[]>;
  /** The next recipients of an event to a conversation or to everyone, by user; fewer than `limit` are the last. */
  recipientsOf(event: ReportedEvent, page: RecipientPage): Promise<{ uid: string; isRecipient: boolean }[]>;
};

/** What became of a delivery. `cancelled`: there is nothing to tell any more. */
export type WebhookDeliveryState = "waiting" | "delivered" | "failed" | "cancelled";

/** One try to post: when, how long it took, and the answer or why there was none. */
export type WebhookTry = {
  at: number;
  durationMs: number;
  status: number | null;
  error: string | null;
  /** The beginning of the body of the answer. */
  answer: string | null;
};

/** What is posted to a webhook. `unreached` is JSON; `eventId` is `null` for a test. */
export type WebhookDelivery = {
  org: string;
  webhook: string;
  id: string;
  state: WebhookDeliveryState;
  eventId: string | null;
  part: number;
  parts: number;
  unreached: string;
  waitedMs: number;
  createdAt: number;
  tries: number;
  nextTryAt: number | null;
  lastTry: WebhookTry | null;
  expiresAt: number;
};

/** What is due on the whole server: the time of the database's clock, and when events and tries are due next. */
export type WebhookAgenda = { now: number; eventAt: number | undefined; tryAt: number | undefined };

/** A webhook that has deliveries waiting. */
export type WebhookQueue = { org: string; webhook: string };

/** A page of deliveries, newest first. */
export type WebhookDeliveryPage = {
  state: WebhookDeliveryState | undefined;
  before: string | undefined;
  limit: number;
};

/** Reads deliveries. */
export type WebhookDeliveryReads = {
  agenda(): Promise<WebhookAgenda>;
  /** At most `limit` webhooks that a node must look at by `now`, without those of `busy`, those that have waited longest first. */
  queues(now: number, page: { busy: readonly string[]; limit: number }): Promise<WebhookQueue[]>;
  get(org: string, webhook: string, id: string): Promise<WebhookDelivery | undefined>;
  list(org: string, webhook: string, page: WebhookDeliveryPage): Promise<WebhookDelivery[]>;
};

/** A delivery after a try. A delivery that does not wait any more has no `nextTryAt`. */
export type TriedDelivery = Pick<
  WebhookDelivery,
  "org" | "webhook" | "id" | "eventId" | "state" | "tries" | "nextTryAt" | "lastTry" | "expiresAt"
>;

/** Writes deliveries. */
export type WebhookDeliveryWrites = {
  /**
   * Takes due events off the list, and stores the deliveries of those that were still on it, in one commit: so each is
   * stored once, whoever else works on it. Those that have changed since they were read stay. Returns how many it took off.
   */
  settle(due: readonly DueEvent[], deliveries: readonly (WebhookDelivery & { eventId: string })[]): Promise<number>;
  /**
   * Stores some of the deliveries of an event, and in the same commit how far it is told and when it is due again, or without
   * `next` takes it off the list. `undefined` if it has changed since it was read: another node is at it.
   */
  settleParts(
    due: DueEvent,
    next: Pick<DueEvent, "dueAt" | "told"> | undefined,
    deliveries: readonly (WebhookDelivery & { eventId: string })[],
  ): Promise<DueEvent | undefined>;
  /** Takes up to `limit` deliveries that are due by `now`, for this node alone until `until`. */
  claim(queue: WebhookQueue, claim: { now: number; until: number; limit: number }): Promise<WebhookDelivery[]>;
  /** Stores what became of tries. One that has succeeded stays so. */
  finish(tried: readonly TriedDelivery[]): Promise<void>;
  /** Stores a delivery that needs no try, or none any more. */
  add(delivery: WebhookDelivery): Promise<void>;
  /** Lets a delivery wait for its first try again. False if there is none, or it waits. */
  restart(
    place: WebhookQueue & { id: string },
    at: { now: number; expiresAt: number },
    by?: KeyProof,
  ): Promise<boolean>;
  /** Nobody need look at this webhook before `at`, or without it at all, as it is gone. */
  postpone(queue: WebhookQueue, at: number | undefined): Promise<void>;
};
