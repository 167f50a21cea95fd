import { describeAudit } from "./audit-suite.ts";
import { describeBudgets } from "./budget-suite.ts";
import { describeChanges } from "./changes-suite.ts";
import { describeDeliveries } from "./delivery-suite.ts";
import { describeDirectory } from "./directory-suite.ts";
import { describeErasures } from "./erasure-suite.ts";
import { describeExpiry } from "./expiry-suite.ts";
import { describeFiles } from "./files-suite.ts";
import { describeInboxes } from "./inbox-suite.ts";
import { describeKeys } from "./keys-suite.ts";
import { describeLog, type OpenDatabase } from "./log-suite.ts";
import { describeOverdue } from "./overdue-suite.ts";
import { describePrefixes } from "./prefix-suite.ts";
import { describeReadMarks } from "./reads-suite.ts";
import { describeRecipients } from "./recipients-suite.ts";
import { describeRetention } from "./retention-suite.ts";
import { describeSchedule } from "./schedule-suite.ts";
import { describeSent } from "./sent-suite.ts";
import { describeSteps } from "./steps-suite.ts";
import { describeTransfers } from "./transfer-suite.ts";
import { describeWebhookNotices } from "./webhook-notices-suite.ts";
import { describeWebhooks } from "./webhooks-suite.ts";

/** Tests every port of the store on an engine. `open` creates an empty database. */
export function describeEngine(engine: string, open: OpenDatabase): void {
  describeLog(engine, open);
  describeBudgets(engine, open);
  describeDirectory(engine, open);
  describePrefixes(engine, open);
  describeSteps(engine, open);
  describeKeys(engine, open);
  describeAudit(engine, open);
  describeRetention(engine, open);
  describeOverdue(engine, open);
  describeSchedule(engine, open);
  describeWebhooks(engine, open);
  describeWebhookNotices(engine, open);
  describeFiles(engine, open);
  describeDeliveries(engine, open);
  describeChanges(engine, open);
  describeExpiry(engine, open);
  describeInboxes(engine, open);
  describeTransfers(engine, open);
  describeErasures(engine, open);
  describeReadMarks(engine, open);
  describeRecipients(engine, open);
  describeSent(engine, open);
}
