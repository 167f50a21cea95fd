import type { LogEvent } from "../contract/log/log-event.ts";
import type { Pipeline } from "../lib/queues/batcher.ts";
import { createAuditReads, createAuditWrites } from "./audit/audit.ts";
import { deliveryBounds } from "./delivery/bounds.ts";
import { createDeliveryReads, createDeliveryWrites } from "./delivery/delivery.ts";
import { createConversationReads, createConversationWrites } from "./directory/conversations.ts";
import { createOrganizationReads, createOrganizationWrites } from "./directory/organizations.ts";
import { createParticipantReads, createParticipantWrites, createStanding } from "./directory/participants.ts";
import { createUserReads, createUserWrites } from "./directory/users.ts";
import { createKeyReads, createKeyWrites } from "./keys.ts";
import { createBatchLog } from "./log/batch-log.ts";
import { createLogReader } from "./log/log-reader.ts";
import { createLogWriter } from "./log/log-writer.ts";
import { type CommitObserver, createSendLog } from "./log/send-log.ts";
import { createHistory, createMissedMessages } from "./messages/history.ts";
import { createSentReads } from "./messages/sent.ts";
import type { BusSecrets, NodeRegistry } from "./ports.ts";
import { createRetentionWrites } from "./retention/retention.ts";
import type { Driver, Reader, TellMigration } from "./sql/driver.ts";

/** What writes to a database. `announce` is called after each commit but those of batches, with its events in offset order. */
export function createWrites({ driver, announce }: { driver: Driver; announce(events: LogEvent[]): void }) {
  const writer = createLogWriter({ driver, announce });
  return {
    batches: createBatchLog({ driver, writer }),
    organizations: createOrganizationWrites({ driver, writer }),
    users: createUserWrites({ driver, writer }),
    conversations: createConversationWrites({ driver, writer }),
    participants: createParticipantWrites({ driver, writer }),
    keys: createKeyWrites({ driver, writer }),
    audit: createAuditWrites({ driver }),
    deliveries: createDeliveryWrites({ driver }),
    retention: createRetentionWrites({ driver }),
  };
}

/** What writes to a database. */
export type Writes = ReturnType<typeof createWrites>;

/** A database that is open, its schema up to date. */
export type Database = {
  reader: Reader;
  writes: Writes;
  nodes: NodeRegistry;
  busSecrets: BusSecrets;
  /** The schema's version before and after. */
  migrated: { from: number; to: number };
  /** How batches of sends overlap, for a database that gains by it. */
  pipeline?: Pipeline | undefined;
  /** What the operator should change, if anything. */
  advice?: string | undefined;
  close(): Promise<void>;
};

/** What a database tells while it is open. */
export type DatabaseEvents = {
  /** Called after each commit but those of batches, with its events in offset order. */
  announce(events: LogEvent[]): void;
  /** The writing thread is gone, which nothing mends: calls are refused from now on. */
  onCrash(error: Error): void;
  /** A connection to PostgreSQL was made anew after one was lost: another server may have taken over. Called once for each. */
  onReconnect?(): void;
  /** How the schema is brought up to date, for the log. */
  onMigration?: TellMigration | undefined;
};

type Options = {
  reader: Reader;
  writes: Writes;
  /** Called after each commit of sends with its events, in offset order. */
  announce(events: LogEvent[]): void;
  observer?: CommitObserver;
  /** How many sends one commit takes at most. */
  batchSize?: number;
  pipeline?: Pipeline | undefined;
};

/** Every port of the store, over a database whose schema is up to date. */
export function createStore({ reader, writes, announce, observer, batchSize, pipeline }: Options) {
  return {
    sends: createSendLog({
      log: writes.batches,
      announce,
      observer,
      pipeline,
      ...(batchSize !== undefined && { batchSize }),
    }),
    log: createLogReader({ reader }),
    history: createHistory({ reader }),
    missed: createMissedMessages({ reader }),
    organizations: { ...createOrganizationReads({ reader }), ...writes.organizations },
    users: { ...createUserReads({ reader }), ...writes.users },
    conversations: { ...createConversationReads({ reader }), ...writes.conversations },
    participants: { ...createParticipantReads({ reader }), ...writes.participants },
    standing: createStanding({ reader }),
    keys: { ...createKeyReads({ reader }), ...writes.keys },
    audit: { ...createAuditReads({ reader }), ...writes.audit },
    deliveries: { bounds: deliveryBounds, ...createDeliveryReads({ reader }), ...writes.deliveries },
    sent: createSentReads({ reader }),
    checks: writes.batches,
    retention: writes.retention,
  };
}
