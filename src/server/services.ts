import { httpLimitsOf, keepOf } from "../config.ts";
import { type HeraldError, rateLimited } from "../contract/errors/errors.ts";
import { createSeen } from "../lib/caches/seen.ts";
import { fetchDocument } from "../lib/network/fetch-document.ts";
import { rootCauseOf } from "../lib/observing/root-cause.ts";
import { createSparing } from "../lib/observing/sparing.ts";
import { createLimiter } from "../lib/queues/limiter.ts";
import { joinIds } from "../lib/text/ids.ts";
import type { Audit } from "../services/audit.ts";
import { createAddressing } from "../services/delivery/addressing.ts";
import { createAwaitedSends } from "../services/delivery/awaited-sends.ts";
import { createDeliveryReports } from "../services/delivery/delivery-reports.ts";
import { createReceipts } from "../services/delivery/receipts.ts";
import { createRecipients } from "../services/delivery/recipients.ts";
import { createUserDeliveries } from "../services/delivery/user-deliveries.ts";
import { createWaits } from "../services/delivery/waits.ts";
import { createAcquaintances } from "../services/directory/acquaintances.ts";
import { createConversationDirectory } from "../services/directory/conversations.ts";
import { createDirectory } from "../services/directory/directory.ts";
import { createErasures } from "../services/directory/erasure.ts";
import { createLastSeen } from "../services/directory/last-seen.ts";
import { createOrganizationDirectory } from "../services/directory/organizations.ts";
import { createFeedStarts } from "../services/feeds.ts";
import { createLargeChanges } from "../services/limits/large-changes.ts";
import { createAppendStreams } from "../services/messages/append-stream.ts";
import { createAppends, createClosing } from "../services/messages/appends.ts";
import { createBatches } from "../services/messages/batches.ts";
import { createChanges } from "../services/messages/changes.ts";
import { createDryRuns } from "../services/messages/dry-runs.ts";
import { createExpiry } from "../services/messages/expiry.ts";
import { createHistoryReader } from "../services/messages/history.ts";
import { createInboxes } from "../services/messages/inboxes.ts";
import { createMessages } from "../services/messages/messages.ts";
import { createReactionLists } from "../services/messages/reaction-lists.ts";
import { createReads } from "../services/messages/reads.ts";
import { createRecovery } from "../services/messages/recovery.ts";
import { createTypingCalls } from "../services/messages/typing.ts";
import { createOnlineUsers } from "../services/online-users.ts";
import { createPresence } from "../services/presence.ts";
import { createProposals } from "../services/proposals/proposals.ts";
import { createScheduling } from "../services/schedule/scheduling.ts";
import { createLastEnds } from "../services/sessions/last-ends.ts";
import { createProviderKeys, keySetLimits } from "../services/sessions/provider-keys.ts";
import { createSessions } from "../services/sessions/sessions.ts";
import { createTokens } from "../services/sessions/tokens.ts";
import { createExports } from "../services/transfer/exports.ts";
import { createImports } from "../services/transfer/imports.ts";
import { createTransferSlots } from "../services/transfer/transfer-slots.ts";
import { createWebhookService } from "../services/webhooks/webhook-service.ts";
import type { NodeBus } from "./bus.ts";
import type { Context } from "./context.ts";
import type { Limits } from "./limits.ts";
import type { Secrets } from "./secrets.ts";
import type { Store } from "./store.ts";

// Long lists and pages of more than 64 KiB of messages, up to 512 KiB each, that are in memory at a time.
const longReading = { places: 4, maxWaiting: 20_000, maxWaitMs: 10_000 };
const mostUnreadableTold = 1_024;
// How many imports, exports or batches run at once: each holds some megabytes, and those of an organization take turns.
const transfersAtOnce = { ofOrganization: 4, ofNode: 64 };
const unreadableAdvice =
  "a message cannot be read and is omitted from lists, because its row in the database is not what Herald wrote; restore it from a backup";

/** The services of a node. */
export type Services = ReturnType<typeof createServices>;

type Dependencies = Pick<Secrets, "tokenSecret"> & Limits & Pick<NodeBus, "bus"> & { store: Store; audit: Audit };

const tellToReadLater = () =>
  rateLimited({
    detail: "too many callers are reading messages on this node at once; try again in 1 s",
    policy: "message-pages",
    quota: longReading.maxWaiting,
    retryAfterSeconds: 1,
  });

/** Creates the services on a store. */
export function createServices(context: Context, dependencies: Dependencies) {
  const { config, nodeId, thread, clock, steadyClock, problemForm, log, later, onError } = context;
  const { tokenSecret, store, audit, organizationLimits, use, refusals, bus } = dependencies;
  const limits = httpLimitsOf(config);
  const tokens = createTokens({
    secret: tokenSecret,
    previousSecret: config.HERALD_TOKEN_SECRET_PREVIOUS,
    provider: createProvider(context),
    maxSeconds: config.HERALD_LIMIT_TOKEN_SECONDS,
    clock,
  });
  const shared = { ...store, use, limits, audit, thread, clock, elapsed: steadyClock, problemForm, onError };
  const told = createSeen(mostUnreadableTold);
  const deliveryReports = createDeliveryReports(store);
  const waits = createWaits({ bus, nodes: () => later.nodes?.heard ?? [nodeId] });
  const awaited = createAwaitedSends({
    ...store,
    waits,
    deliveryReports,
    onError: (error) => log.error({ err: error }, "cannot tell a caller about the delivery of a stored send"),
  });
  const live = async () => (await later.nodes?.live()) ?? [nodeId];
  const presence = createPresence({ ...store, nodes: { live }, bus });
  const dryRuns = createDryRuns({ ...shared, presence });
  const longReads = createLimiter({ ...longReading, clock: steadyClock, whenBusy: tellToReadLater });
  const slotsOf = (what: string) => createTransferSlots({ what, ...transfersAtOnce });
  const tellRefused = createSparing({
    tell: (facts, before) => log.info({ ...facts, before }, "refused a user token"),
    clock: steadyClock,
  });
  const lastEnds = createLastEnds(shared);
  const tokenFigures = { refused: 0 };
  const onRefused = (error: HeraldError) => {
    tokenFigures.refused++;
    const reason = rootCauseOf(error);
    tellRefused(reason, { code: error.code, reason });
  };
  const expiry = createExpiry(shared);
  const appends = createAppends(shared);
  later.expiry = expiry;
  const addressing = createAddressing(shared);
  later.addressing = addressing;
  return {
    messages: createMessages({ ...shared, awaited }),
    dryRuns,
    batches: createBatches({ ...shared, dryRuns, slots: slotsOf("batches") }),
    changes: createChanges(shared),
    appends,
    appendStreams: createAppendStreams({ ...shared, appends }),
    closing: createClosing(shared),
    reads: createReads(shared),
    typingCalls: createTypingCalls({ ...shared, bus }),
    inboxes: createInboxes(shared),
    expiry,
    addressing,
    ...createScheduling(shared),
    proposals: createProposals(shared),
    ...createWebhookService({
      ...shared,
      nodeId,
      presence,
      allowsPrivate: config.HERALD_WEBHOOK_ALLOW_PRIVATE,
      onDisabled: ({ org, id }) =>
        log.warn({ org, webhook: id }, "switched off a webhook, as its receiver answered 410"),
    }),
    presence,
    onlineUsers: createOnlineUsers({ ...store, presence }),
    organizations: createOrganizationDirectory({ ...shared, limits: organizationLimits, presence }),
    acquaintances: createAcquaintances(store),
    lastSeen: createLastSeen(shared),
    directory: createDirectory({ ...shared, tokens }),
    erasures: createErasures(shared),
    conversations: createConversationDirectory({
      ...shared,
      largeChanges: createLargeChanges({ clock: steadyClock }),
      maxParticipants: limits.participants,
    }),
    history: createHistoryReader({
      ...store,
      longReads,
      onUnreadable({ org, offset }) {
        if (told.isNew(joinIds(org, String(offset)))) log.error({ org, offset }, unreadableAdvice);
      },
    }),
    reactionLists: createReactionLists(store),
    sessions: createSessions({ ...shared, tokens, refusals, lastEnds, onRefused }),
    lastEnds,
    tokenFigures,
    feedStarts: createFeedStarts({ ...shared, keepDays: keepOf(config).messages }),
    recovery: createRecovery({
      ...shared,
      maxMessages: config.HERALD_LIMIT_RECOVERY_MESSAGES,
      maxDays: config.HERALD_LIMIT_RECOVERY_DAYS,
    }),
    waits,
    deliveryReports,
    recipients: createRecipients({ ...store, longReads, steadyClock }),
    userDeliveries: createUserDeliveries({ ...store, longReads }),
    receipts: createReceipts(shared),
    exports: createExports({ ...shared, slots: slotsOf("exports") }),
    imports: createImports({ ...shared, slots: slotsOf("imports") }),
  };
}

/**
 * Creates the configured identity provider. Its keys are fetched when the first token needs them, so that it can be
 * away at the start.
 */
function createProvider({ config, clock, log, dependencies }: Context) {
  const { HERALD_TOKEN_JWKS_URL: jwksUrl, HERALD_TOKEN_ISSUER: issuer } = config;
  if (jwksUrl === undefined) return undefined;
  if (issuer === undefined)
    log.warn(
      "HERALD_TOKEN_ISSUER is not set, so Herald trusts any issuer that signs with the keys of HERALD_TOKEN_JWKS_URL",
    );
  const keys = createProviderKeys({
    fetchKeySet: () =>
      fetchDocument(new URL(jwksUrl), { ...keySetLimits, allowsPrivate: config.HERALD_TOKEN_JWKS_ALLOW_PRIVATE }),
    clock,
    ...dependencies.provider,
  });
  return { keys, issuer };
}
