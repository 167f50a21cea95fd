import { createSigner } from "../../src/bus/signatures.ts";
import { createSignedTexts } from "../../src/bus/signed-texts.ts";
import { createGateway } from "../../src/gateway/gateway.ts";
import { createThreadScheduler } from "../../src/lib/event-loop/thread-scheduler.ts";
import { createDatabaseClock } from "../../src/lib/time/database-clock.ts";
import { createFeedStarts } from "../../src/services/feeds.ts";
import { createExpiry } from "../../src/services/messages/expiry.ts";
import { createInboxes } from "../../src/services/messages/inboxes.ts";
import { createRecovery } from "../../src/services/messages/recovery.ts";
import { createSessions } from "../../src/services/sessions/sessions.ts";
import { createInboxWrites } from "../../src/store/inbox/inbox-writes.ts";
import { planReads } from "../../src/store/reads/read-plan.ts";

/** The code under test, unchanged. */
export const product = {
  createDatabaseClock,
  createExpiry,
  createFeedStarts,
  createGateway,
  createInboxes,
  createInboxWrites,
  createRecovery,
  createSessions,
  createSigner,
  createSignedTexts,
  createThreadScheduler,
  planReads,
};

/** The code under test. */
export type Product = typeof product;
