import type { Logger } from "pino";
import { type Config, httpLimitsOf } from "../config.ts";
import { type HeraldError, rateLimited } from "../contract/errors/errors.ts";
import type { ProblemForm } from "../contract/errors/problem.ts";
import { createSeen } from "../lib/caches/seen.ts";
import type { ThreadScheduler } from "../lib/event-loop/thread-scheduler.ts";
import { fetchDocument } from "../lib/network/fetch-document.ts";
import type { OutageEvents } from "../lib/observing/outages.ts";
import { rootCauseOf } from "../lib/observing/root-cause.ts";
import { createSparing } from "../lib/observing/sparing.ts";
import { createLimiter } from "../lib/queues/limiter.ts";
import { joinIds } from "../lib/text/joined-ids.ts";
import type { Clock } from "../lib/time/clock.ts";
import { createAwaitedSends } from "../services/delivery/awaited-sends.ts";
import { createDeliveryReports } from "../services/delivery/delivery-reports.ts";
import { createReceipts } from "../services/delivery/receipts.ts";
import { createRecipients } from "../services/delivery/recipients.ts";
import type { Waits } from "../services/delivery/waits.ts";
import { createAcquaintances } from "../services/directory/acquaintances.ts";
import { createConversationDirectory } from "../services/directory/conversations.ts";
import { createDirectory } from "../services/directory/directory.ts";
import { createErasures } from "../services/directory/erasure.ts";
import { createLastSeen } from "../services/directory/last-seen.ts";
import { createFeedStarts } from "../services/feeds.ts";
import { createLargeChanges } from "../services/limits/large-changes.ts";
import type { OrganizationUse } from "../services/limits/organization-use.ts";
import type { Refusals } from "../services/limits/refusals.ts";
import { createCatchUp } from "../services/messages/catch-up.ts";
import { createChanges } from "../services/messages/changes.ts";
import { createHistoryReader } from "../services/messages/history.ts";
import { createMessages } from "../services/messages/messages.ts";
import { createReads } from "../services/messages/reads.ts";
import { createSystemMessages } from "../services/messages/system-messages.ts";
import { createScheduling } from "../services/schedule/scheduling.ts";
import { createProviderKeys } from "../services/sessions/provider-keys.ts";
import { createSessions } from "../services/sessions/sessions.ts";
import { createTokens } from "../services/sessions/tokens.ts";
import { createExports } from "../services/transfer/exports.ts";
import { createImports } from "../services/transfer/imports.ts";
import { createPlaces } from "../services/transfer/places.ts";
import { createWebhookService } from "../services/webhooks/webhook-service.ts";
import type { createStore } from "../store/store.ts";

const keySetMayTakeMs = 5_000;
const maxKeySetBytes = 256 * 1024;
// Long lists and pages of more than 64 KiB of messages, up to 512 KiB each, that are in memory at a time.
const longReading = { places: 4, maxWaiting: 20_000, maxWaitMs: 10_000 };
const mostUnreadableTold = 1_024;
/** How many imports, exports or batches run at once: each holds some megabytes, and those of an organization take turns. */
export const transfersAtOnce = { ofOrganization: 4, ofNode: 64 };
const unreadableAdvice =
  "a message cannot be read and is omitted from lists, because its row in the database is not what Herald wrote; restore it from a backup";

type Dependencies = {
  config: Config;
  tokenSecret: string;
  store: ReturnType<typeof createStore>;
  use: OrganizationUse;
  thread: ThreadScheduler;
  refusals: Refusals;
  clock: Clock;
  steadyClock: Clock;
  waits: Pick<Waits, "open">;
  problemForm: ProblemForm;
  log: Logger;
  outagesOfProvider: OutageEvents;
};

const tellToReadLater = () =>
  rateLimited({
    detail: "too many callers are reading messages on this node at once; try again in 1 s",
    policy: "message-pages",
    quota: longReading.maxWaiting,
    retryAfterSeconds: 1,
  });

/** Creates the services on a store. */
export function createServices(dependencies: Dependencies) {
  const { config, tokenSecret, store, use, thread, refusals, clock, steadyClock, waits, problemForm, log } =
    dependencies;
  const tokens = createTokens({
    secret: tokenSecret,
    previousSecret: config.HERALD_TOKEN_SECRET_PREVIOUS,
    provider: createProvider(config, { clock, log, outages: dependencies.outagesOfProvider }),
    maxSeconds: config.HERALD_LIMIT_TOKEN_SECONDS,
    clock,
  });
  const maxParticipants = config.HERALD_LIMIT_PARTICIPANTS;
  const recovery = {
    maxMessages: config.HERALD_LIMIT_RECOVERY_MESSAGES,
    maxDays: config.HERALD_LIMIT_RECOVERY_DAYS,
  };
  const told = createSeen(mostUnreadableTold);
  const deliveryReports = createDeliveryReports(store);
  const awaited = createAwaitedSends({
    ...store,
    waits,
    deliveryReports,
    onError: (error) => log.error({ err: error }, "cannot tell a caller about the delivery of a stored send"),
  });
  const longReads = createLimiter({ ...longReading, clock: steadyClock, whenBusy: tellToReadLater });
  const tellRefused = createSparing({
    tell: (facts, before) => log.info({ ...facts, before }, "refused a user token"),
    clock: steadyClock,
  });
  const onRefused = (error: HeraldError) => {
    const reason = rootCauseOf(error);
    tellRefused(reason, { code: error.code, reason });
  };
  return {
    messages: createMessages({ ...store, use, clock, awaited }),
    systemMessages: createSystemMessages({ ...store, use, clock, awaited }),
    changes: createChanges({ ...store, use, clock }),
    reads: createReads({ ...store, use, clock }),
    ...createScheduling({ ...store, use, limits: httpLimitsOf(config), clock, elapsed: steadyClock, problemForm }),
    ...createWebhookService({
      ...store,
      allowsPrivate: config.HERALD_WEBHOOK_ALLOW_PRIVATE,
      clock,
      elapsed: steadyClock,
    }),
    acquaintances: createAcquaintances(store),
    lastSeen: createLastSeen({ ...store, clock }),
    directory: createDirectory({ ...store, tokens, clock }),
    erasures: createErasures({ ...store, clock, elapsed: steadyClock }),
    conversations: createConversationDirectory({
      ...store,
      use,
      largeChanges: createLargeChanges({ clock: steadyClock }),
      maxParticipants,
      clock,
    }),
    history: createHistoryReader({
      ...store,
      longReads,
      onUnreadable({ org, offset }) {
        if (told.isNew(joinIds(org, String(offset)))) log.error({ org, offset }, unreadableAdvice);
      },
    }),
    sessions: createSessions({ ...store, tokens, refusals, clock, onRefused }),
    feedStarts: createFeedStarts(store),
    catchUp: createCatchUp({ ...store, ...recovery, clock }),
    deliveryReports,
    recipients: createRecipients({
      ...store,
      longReads,
      steadyClock,
    }),
    receipts: createReceipts({ ...store, clock }),
    exports: createExports({
      ...store,
      places: createPlaces({ what: "exports", ...transfersAtOnce }),
      thread,
      elapsed: steadyClock,
    }),
    imports: createImports({
      ...store,
      use,
      places: createPlaces({ what: "imports", ...transfersAtOnce }),
      thread,
      limits: httpLimitsOf(config),
      clock,
      elapsed: steadyClock,
      problemForm,
    }),
  };
}

/**
 * Creates the configured identity provider. Its keys are fetched when the first token needs them, so that it can be
 * away at the start.
 */
function createProvider(config: Config, { clock, log, outages }: { clock: Clock; log: Logger; outages: OutageEvents }) {
  const { HERALD_TOKEN_JWKS_URL: jwksUrl, HERALD_TOKEN_ISSUER: issuer } = config;
  if (jwksUrl === undefined) return undefined;
  if (issuer === undefined)
    log.warn(
      "HERALD_TOKEN_ISSUER is not set, so Herald trusts any issuer that signs with the keys of HERALD_TOKEN_JWKS_URL",
    );
  const limits = { timeoutMs: keySetMayTakeMs, maxBytes: maxKeySetBytes };
  const keys = createProviderKeys({
    fetchKeySet: () =>
      fetchDocument(new URL(jwksUrl), { ...limits, allowsPrivate: config.HERALD_TOKEN_JWKS_ALLOW_PRIVATE }),
    clock,
    ...outages,
  });
  return { keys, issuer };
}
