import { invalidRequest, rateExceeded } from "../../contract/errors/errors.ts";
import { absent, errorAbout } from "../../contract/errors/naming.ts";
import type { ProblemForm } from "../../contract/errors/problem.ts";
import { toIso } from "../../contract/identifiers.ts";
import { keptMs } from "../../contract/webhooks/kept.ts";
import type {
  PutWebhookRequest,
  WebhookDeliveryShown,
  WebhookShown,
  WebhookWithSecret,
} from "../../contract/webhooks/webhooks.ts";
import { namesPrivateHost } from "../../lib/network/addresses.ts";
import { createTokenBuckets } from "../../lib/rates/token-buckets.ts";
import { createId } from "../../lib/text/ids.ts";
import type { Clock, SteadyClock } from "../../lib/time/clock.ts";
import type { EntityPage, OrganizationReads } from "../../store/ports.ts";
import type {
  EventText,
  EventTextReads,
  StoredWebhook,
  WebhookDelivery,
  WebhookDeliveryReads,
  WebhookDeliveryState,
  WebhookDeliveryWrites,
  WebhookReads,
  WebhookWrites,
} from "../../store/webhooks/ports.ts";
import { refuseMissing, requireOrganization } from "../directory/directory.ts";
import { type Caller, proofOf } from "../keys/permissions.ts";
import { type Page, type PageQuery, pageOf } from "../pages.ts";
import { type Attempt, createWebhookSecret } from "./attempts.ts";
import { noticePayloadOf } from "./notices.ts";
import { payloadOf, testPayloadOf } from "./payloads.ts";

/** The webhooks of organizations, and their deliveries. */
export type Webhooks = ReturnType<typeof createWebhooks>;

/** The organization of a webhook, and its id. */
type WebhookPlace = { org: string; id: string };

type DeliveryQuery = PageQuery & { state?: WebhookDeliveryState | undefined };

type Dependencies = {
  webhooks: WebhookReads & WebhookWrites;
  webhookDeliveries: WebhookDeliveryReads & WebhookDeliveryWrites;
  unreached: EventTextReads;
  organizations: Pick<OrganizationReads, "get">;
  attempt: Attempt;
  /** The clock that keys expire by. */
  clock: Clock;
  elapsed: SteadyClock;
  /** Whether webhooks may lead to addresses that are not public. */
  allowsPrivate: boolean;
  problemForm?: ProblemForm | undefined;
  /** Called when a delivery is due now. */
  onDue(): void;
};

const mostWebhooks = 20;
const testRate = { burst: 6, perSecond: 6 / 60 };
const overlapMs = 24 * 3600 * 1000;
const deliveriesAtOnce = 100;

/** Creates the webhooks on the store. What is due is decided by the database's clock. */
export function createWebhooks(dependencies: Dependencies) {
  const {
    webhooks,
    webhookDeliveries,
    unreached,
    organizations,
    attempt,
    clock,
    elapsed,
    allowsPrivate,
    problemForm,
    onDue,
  } = dependencies;
  const tests = createTokenBuckets({ clock: elapsed });
  const now = async () => (await webhookDeliveries.agenda()).now;

  /** Charges for a test. Throws `rate_limited`: callers choose the address of this post, and see its answer. */
  function admitTest(org: string): void {
    const waitMs = tests.waitMs(org, testRate);
    if (waitMs > 0) {
      const detail = `an organization may test its webhooks ${testRate.burst} times a minute`;
      throw rateExceeded({ detail, policy: "webhook-tests", quota: testRate.burst, windowSeconds: 60, waitMs });
    }
    tests.charge(org, testRate, 1);
  }

  async function find({ org, id }: WebhookPlace): Promise<StoredWebhook> {
    return (await webhooks.get(org, id)) ?? (await missing({ org, id }));
  }

  const missing = ({ org, id }: WebhookPlace, what = "webhook") => refuseMissing(organizations, org, absent(what, id));

  async function showAll(hook: StoredWebhook, deliveries: readonly WebhookDelivery[]): Promise<WebhookDeliveryShown[]> {
    const named = new Set(deliveries.flatMap(({ eventId }) => eventId ?? []));
    const events = await unreached.texts(Array.from(named, (id) => ({ org: hook.org, id })));
    const eventOf = new Map(events.map((event) => [event.id, event]));
    return deliveries.map((one) => showDelivery(hook, one, eventOf.get(one.eventId ?? ""), problemForm));
  }

  return {
    /** Creates a webhook, or changes one and switches it on. Only a new one shows its secret. */
    async put(caller: Caller, { org, id }: WebhookPlace, { url, events, wait_seconds, until }: PutWebhookRequest) {
      const wish = {
        id,
        url: checkUrl(url, allowsPrivate),
        events: [...new Set(events)],
        waitMs: wait_seconds * 1000,
        until,
      };
      const own = { ref: createId(), secret: createWebhookSecret(), now: await now(), most: mostWebhooks };
      const put = await webhooks.put(org, { ...wish, ...own }, proofOf(caller, clock.now()));
      if (put.outcome === "missing") throw errorAbout("organization_not_found", { organization: org });
      if (put.outcome !== "done") throw invalidRequest("", `an organization has at most ${mostWebhooks} webhooks`);
      const { webhook, isNew } = put;
      onDue(); // deliveries that waited while it was off
      return { shown: isNew ? showWithSecret(webhook) : show(webhook), isNew };
    },
    /** Throws `not_found`, like all that follow. */
    get: async (place: WebhookPlace) => show(await find(place)),
    async list(org: string, query: PageQuery): Promise<Page<WebhookShown>> {
      await requireOrganization(organizations, org);
      return await pageOf(query, (page) => webhooks.list(org, page), show);
    },
    async remove({ org, id }: WebhookPlace): Promise<void> {
      if (!(await webhooks.remove(org, id))) await missing({ org, id });
    },
    /** Creates a new secret. Posts are also signed with the earlier ones for a day. */
    async rotate(caller: Caller, { org, id }: WebhookPlace): Promise<WebhookWithSecret> {
      const at = await now();
      const change = { secret: createWebhookSecret(), othersEndAt: at + overlapMs, now: at };
      const rotated = await webhooks.rotate(org, id, change, proofOf(caller, clock.now()));
      return showWithSecret(rotated ?? (await missing({ org, id })));
    },
    /** Posts a test once, now, and resolves with its delivery. Throws `rate_limited`. */
    async test(place: WebhookPlace): Promise<WebhookDeliveryShown> {
      const hook = await find(place);
      admitTest(place.org);
      const at = await now();
      const id = createId();
      const tried = await attempt(hook, { id, body: testPayloadOf(place, at), now: at });
      const state = tried.error === null ? "delivered" : "failed";
      const delivery: WebhookDelivery = {
        org: hook.org,
        webhook: hook.ref,
        id,
        state,
        eventId: null,
        part: 1,
        parts: 1,
        unreached: "[]",
        waitedMs: 0,
        createdAt: at,
        tries: 1,
        nextTryAt: null,
        lastTry: tried,
        expiresAt: at + keptMs[state],
      };
      await webhookDeliveries.add(delivery);
      return showDelivery(hook, delivery);
    },
    async deliveries(
      place: WebhookPlace,
      { limit, cursor, state }: DeliveryQuery,
    ): Promise<Page<WebhookDeliveryShown>> {
      const hook = await find(place);
      const read = async ({ after: before, limit }: EntityPage) =>
        await showAll(hook, await webhookDeliveries.list(hook.org, hook.ref, { state, before, limit }));
      return await pageOf({ cursor, limit: Math.min(limit, deliveriesAtOnce) }, read, (shown) => shown);
    },
    /** Posts a delivery again with the same id, and restarts its schedule of tries. */
    async redeliver(caller: Caller, place: WebhookPlace, did: string): Promise<WebhookDeliveryShown> {
      const hook = await find(place);
      if (hook.disabledAt !== null)
        throw invalidRequest(
          "",
          "the webhook is switched off, as its receiver answered 410; PUT it to switch it on again",
        );
      const at = { org: hook.org, webhook: hook.ref, id: did };
      const found = await webhookDeliveries.get(at.org, at.webhook, did);
      if (found === undefined) return await missing({ org: hook.org, id: did }, "delivery");
      if (found.eventId === null && found.notice === undefined)
        throw invalidRequest("", "a test cannot be redelivered; test the webhook again");
      const dueAt = await now();
      const times = { now: dueAt, expiresAt: dueAt + keptMs.waiting };
      await webhookDeliveries.restart(at, times, proofOf(caller, clock.now()));
      onDue();
      const again = (await webhookDeliveries.get(at.org, at.webhook, did)) ?? found;
      const [shown] = await showAll(hook, [again]);
      return shown ?? (await missing({ org: hook.org, id: did }, "delivery"));
    },
  };
}

/** The URL in normal form. Throws `invalid_request` for one that Herald does not post to. */
function checkUrl(text: string, allowsPrivate: boolean): string {
  const url = URL.parse(text);
  if (url === null || !["https:", "http:"].includes(url.protocol))
    throw invalidRequest("/url", "must be a URL that begins with https://");
  if (url.username !== "" || url.password !== "") throw invalidRequest("/url", "must not contain a user or a password");
  if (!allowsPrivate && url.protocol !== "https:")
    throw invalidRequest("/url", "must begin with https://, unless the server has HERALD_WEBHOOK_ALLOW_PRIVATE=1");
  if (!allowsPrivate && namesPrivateHost(url))
    throw invalidRequest("/url", "must lead to a public address, unless the server has HERALD_WEBHOOK_ALLOW_PRIVATE=1");
  url.hash = "";
  return url.href;
}

function show({ id, url, events, waitMs, until, createdAt, disabledAt, failing }: StoredWebhook): WebhookShown {
  return {
    id,
    url,
    events,
    wait_seconds: waitMs / 1000,
    until,
    state: disabledAt === null ? "active" : "disabled",
    created_at: toIso(createdAt),
    disabled_at: disabledAt === null ? null : toIso(disabledAt),
    failing: failing && {
      since: toIso(failing.since),
      at: toIso(failing.at),
      status: failing.status,
      error: failing.error,
    },
  };
}

function showWithSecret(hook: StoredWebhook): WebhookWithSecret {
  return { ...show(hook), secret: hook.secrets[0]?.secret ?? "" };
}

function showDelivery(
  hook: StoredWebhook,
  delivery: WebhookDelivery,
  event?: EventText,
  form?: ProblemForm,
): WebhookDeliveryShown {
  const { id, state, createdAt, tries, nextTryAt, lastTry } = delivery;
  return {
    id,
    state,
    created_at: toIso(createdAt),
    tries,
    next_try_at: nextTryAt === null ? null : toIso(nextTryAt),
    last_try: lastTry && {
      at: toIso(lastTry.at),
      duration_ms: lastTry.durationMs,
      status: lastTry.status,
      error: lastTry.error,
      answer: lastTry.answer,
    },
    request: requestOf(hook, delivery, event, form),
  };
}

function requestOf(hook: StoredWebhook, delivery: WebhookDelivery, event: EventText | undefined, form?: ProblemForm) {
  const notice = noticePayloadOf(delivery, form);
  if (notice !== undefined) return JSON.parse(notice);
  if (delivery.eventId === null) return JSON.parse(testPayloadOf(hook, delivery.createdAt));
  return event === undefined || event.payload === "" ? null : JSON.parse(payloadOf(event, delivery));
}
