import type { LogEvent } from "../contract/log/log-event.ts";
import type { ThreadScheduler } from "../lib/event-loop/thread-scheduler.ts";
import type { Overlap } from "../lib/queues/batcher.ts";
import { createAuditReads, createAuditWrites } from "./audit/audit.ts";
import { createAddresseeReads, createAddresseeWrites } from "./delivery/addressees.ts";
import { deliveryBounds } from "./delivery/bounds.ts";
import { createDeliveryReads, createDeliveryWrites } from "./delivery/delivery.ts";
import { createNewestEvents } from "./delivery/newest-events.ts";
import { createRecipientReads } from "./delivery/recipients.ts";
import { createUserDeliveryReads } from "./delivery/user-deliveries.ts";
import { createConversationReads, createConversationWrites } from "./directory/conversations.ts";
import { createOrganizationReads, createOrganizationWrites } from "./directory/organizations.ts";
import {
  createAcquaintanceReads,
  createParticipantReads,
  createParticipantWrites,
  createStanding,
} from "./directory/participants.ts";
import { createUserReads, createUserWrites } from "./directory/users.ts";
import { createFileReads, createFileWrites } from "./files/files.ts";
import { createFileUpkeep } from "./files/upkeep.ts";
import { createInboxReads } from "./inbox/inbox-reads.ts";
import { createInboxWrites } from "./inbox/inbox-writes.ts";
import { createKeyReads, createKeyWrites } from "./keys/keys.ts";
import { createBatchLog } from "./log/batch-log.ts";
import { createFeedReader } from "./log/feed-reader.ts";
import { createLogReader } from "./log/log-reader.ts";
import { createLogWriter } from "./log/log-writer.ts";
import { type CommitObserver, createSendLog } from "./log/send-log.ts";
import { createWriteTrial } from "./log/write-trial.ts";
import { createMessageChanges } from "./messages/changes.ts";
import { createErasureReads, createErasureWrites } from "./messages/erasure.ts";
import { createExpiryReads, createExpiryWrites } from "./messages/expiry.ts";
import { createHiddenReads, createHidings } from "./messages/hidings.ts";
import { createHistory, createMissedEvents } from "./messages/history.ts";
import { createOpenMessageReads, createOpenMessageWrites } from "./messages/open-messages.ts";
import { createReactionReads } from "./messages/reaction-reads.ts";
import { createReactions } from "./messages/reactions.ts";
import { createSentReads } from "./messages/sent.ts";
import { createSystemRecalls } from "./messages/system-recalls.ts";
import { createPersonSessionReads, createPersonSessionWrites } from "./people/person-sessions.ts";
import type { BusSecrets, NodeRegistry } from "./ports.ts";
import { createWebhookPresenceReads, createWebhookPresenceWrites } from "./presence/webhook-presence.ts";
import { createProposalReads } from "./proposals/proposal-reads.ts";
import { createProposalWrites } from "./proposals/proposal-writes.ts";
import { createReadMarkReads, createReadMarkWrites } from "./reads/read-marks.ts";
import { createRetentionReads, createRetentionWrites } from "./retention/retention.ts";
import { createScheduleReads } from "./schedule/schedule-reads.ts";
import { createScheduleWrites } from "./schedule/schedule-writes.ts";
import type { Driver, Reader, TellMigration } from "./sql/driver.ts";
import { createInboxExportReads } from "./transfer/export-inbox-reads.ts";
import { createReactionExportReads } from "./transfer/export-reactions.ts";
import { createExportReads } from "./transfer/export-reads.ts";
import { createImportWrites } from "./transfer/import-writes.ts";
import { createWebhookDeliveryReads, createWebhookDeliveryWrites } from "./webhooks/deliveries.ts";
import { createUnreachedReads } from "./webhooks/unreached-reads.ts";
import { createWebhookReads, createWebhookWrites } from "./webhooks/webhooks.ts";

/** How long a message that grows waits for its next piece: ten minutes (api.md, 2.5). */
const silenceMs = 10 * 60_000;

type WriteOptions = Pick<DatabaseEvents, "announce"> & {
  driver: Driver;
  /** The scheduler of the thread that runs the writes. */
  thread: ThreadScheduler;
};

/** Creates the writes of a database. */
export function createWrites({ driver, thread, announce }: WriteOptions) {
  const writer = createLogWriter({ driver, announce });
  return {
    batches: createBatchLog({ writer }),
    trial: createWriteTrial({ driver }),
    organizations: createOrganizationWrites({ driver, writer }),
    users: createUserWrites({ driver, writer }),
    conversations: createConversationWrites({ driver, writer, thread }),
    participants: createParticipantWrites({ writer }),
    keys: createKeyWrites({ driver, writer }),
    personSessions: createPersonSessionWrites({ driver }),
    audit: createAuditWrites({ driver }),
    deliveries: createDeliveryWrites({ driver }),
    addressees: createAddresseeWrites({ driver }),
    retention: createRetentionWrites({ driver }),
    imports: createImportWrites({ writer }),
    changes: createMessageChanges({ writer }),
    systemRecalls: createSystemRecalls({ writer }),
    hidings: createHidings({ writer }),
    reactions: createReactions({ writer }),
    expiry: createExpiryWrites({ writer }),
    openMessages: createOpenMessageWrites({ writer, silenceMs }),
    inboxes: createInboxWrites({ writer }),
    erasures: createErasureWrites({ driver, writer }),
    readMarks: createReadMarkWrites({ writer }),
    schedule: createScheduleWrites({ writer }),
    proposals: createProposalWrites({ writer }),
    webhooks: createWebhookWrites({ writer }),
    webhookDeliveries: createWebhookDeliveryWrites({ driver }),
    webhookPresence: createWebhookPresenceWrites({ driver }),
    files: { ...createFileWrites({ writer }), ...createFileUpkeep({ driver, writer }) },
  };
}

/** The writes of a database. */
export type Writes = ReturnType<typeof createWrites>;

/**
 * What a database takes up. `bytes`: with SQLite, the file; with PostgreSQL, all tables and indexes. `logBytes`: the
 * write-ahead log; `undefined` if the database user may not read it.
 */
export type DatabaseSizes = { engine: "sqlite" | "postgresql"; bytes: number; logBytes: number | undefined };

/** How a node that stores nothing finds out whether it could, and how often it looks. `look` rejects if it could not. */
export type DatabaseWatch = { look(): Promise<void>; everyMs: number };

/** An open database with an up-to-date schema. */
export type Database = {
  reader: Reader;
  writes: Writes;
  nodes: NodeRegistry;
  busSecrets: BusSecrets;
  /** The schema version before and after. */
  migrated: { from: number; to: number };
  /** How batches of sends overlap, for databases that benefit. */
  overlap?: Overlap | undefined;
  sizes(): Promise<DatabaseSizes>;
  /** Finds out whether a send would be stored, while nobody sends. */
  watch: DatabaseWatch;
  /** A recommendation to the operator, if any. */
  advice?: string | undefined;
  close(): Promise<void>;
};

/** What a database reports while it is open. */
export type DatabaseEvents = {
  /** Called after each commit, except those of batches, with its events in offset order. */
  announce(events: LogEvent[]): void;
  /** Called if a database thread dies, which cannot be repaired: calls are refused from then on. */
  onCrash(error: Error): void;
  /** Called for each PostgreSQL connection that was replaced after it was lost: another server may have taken over. */
  onReconnect?(): void;
  /** Reports the progress of migrations, for the log. */
  onMigration?: TellMigration | undefined;
};

type Options = Pick<Database, "reader" | "writes" | "overlap"> & {
  /** Called after each commit of sends with its events, in offset order. */
  announce(events: LogEvent[]): void;
  observer?: CommitObserver;
  /** The maximum number of sends per commit. */
  batchSize?: number;
};

/** Creates every port of the store on a database with an up-to-date schema. */
export function createStore({ reader, writes, announce, observer, batchSize, overlap }: Options) {
  const sends = createSendLog({
    log: writes.batches,
    announce,
    observer,
    overlap,
    ...(batchSize !== undefined && { batchSize }),
  });
  return {
    sends,
    log: { ...createLogReader({ reader }), ...createFeedReader({ reader }) },
    history: createHistory({ reader }),
    missed: createMissedEvents({ reader }),
    organizations: { ...createOrganizationReads({ reader }), ...writes.organizations },
    users: { ...createUserReads({ reader }), ...writes.users },
    conversations: { ...createConversationReads({ reader }), ...writes.conversations },
    participants: { ...createParticipantReads({ reader }), ...writes.participants },
    standing: createStanding({ reader }),
    acquaintances: createAcquaintanceReads({ reader }),
    keys: { ...createKeyReads({ reader }), ...writes.keys },
    personSessions: { ...createPersonSessionReads({ reader }), ...writes.personSessions },
    audit: { ...createAuditReads({ reader }), ...writes.audit },
    deliveries: { bounds: deliveryBounds, ...createDeliveryReads({ reader }), ...writes.deliveries },
    sent: createSentReads({ reader }),
    changes: writes.changes,
    systemRecalls: writes.systemRecalls,
    hidings: { ...createHiddenReads({ reader }), ...writes.hidings },
    reactions: { ...createReactionReads({ reader }), ...writes.reactions },
    openMessages: {
      ...createOpenMessageReads({ reader, silenceMs }),
      ...writes.openMessages,
      isShared: reader.dialect.isShared,
    },
    expiry: { ...createExpiryReads({ reader }), ...writes.expiry, isShared: reader.dialect.isShared },
    inboxes: { ...createInboxReads({ reader }), ...writes.inboxes },
    erasures: { ...createErasureReads({ reader }), ...writes.erasures },
    recipients: createRecipientReads({ reader }),
    addressees: { ...createAddresseeReads({ reader }), ...writes.addressees },
    userDeliveries: { ...createNewestEvents({ reader }), ...createUserDeliveryReads({ reader }) },
    checks: writes.batches,
    retention: { ...createRetentionReads({ reader }), ...writes.retention },
    exports: {
      ...createExportReads({ reader }),
      ...createInboxExportReads({ reader }),
      ...createReactionExportReads({ reader }),
    },
    readMarks: { ...createReadMarkReads({ reader }), ...writes.readMarks },
    imports: { ...writes.imports, rowsOfPart: reader.dialect.rowsOfImport },
    files: { ...createFileReads({ reader }), ...writes.files },
    proposals: { ...createProposalReads({ reader }), ...writes.proposals },
    schedule: { ...createScheduleReads({ reader }), ...writes.schedule, isShared: reader.dialect.isShared },
    webhooks: { ...createWebhookReads({ reader }), ...writes.webhooks },
    webhookDeliveries: { ...createWebhookDeliveryReads({ reader }), ...writes.webhookDeliveries },
    webhookPresence: { ...createWebhookPresenceReads({ reader }), ...writes.webhookPresence },
    unreached: createUnreachedReads({ reader }),
  };
}
