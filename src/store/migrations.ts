import logAndDirectory from "./migrations/0001-log-and-directory.sql" with { type: "text" };
import nodes from "./migrations/0002-nodes.sql" with { type: "text" };
import apiKeys from "./migrations/0003-api-keys.sql" with { type: "text" };
import organizationTokens from "./migrations/0004-organization-tokens.sql" with { type: "text" };
import rowSecurity from "./migrations/0005-row-security.sql" with { type: "text" };
import audit from "./migrations/0006-audit.sql" with { type: "text" };
import retention from "./migrations/0007-retention.sql" with { type: "text" };
import delivery from "./migrations/0008-delivery.sql" with { type: "text" };
import headIds from "./migrations/0009-head-ids.sql" with { type: "text" };
import organizationLimits from "./migrations/0010-organization-limits.sql" with { type: "text" };
import busSecret from "./migrations/0011-bus-secret.sql" with { type: "text" };
import receipts from "./migrations/0012-receipts.sql" with { type: "text" };
import blockedUsers from "./migrations/0013-blocked-users.sql" with { type: "text" };
import revokedTokens from "./migrations/0014-revoked-tokens.sql" with { type: "text" };
import rowSecurityOfTheServer from "./migrations/0015-row-security-of-the-server.sql" with { type: "text" };
import liveKeys from "./migrations/0016-live-keys.sql" with { type: "text" };
import imports from "./migrations/0017-imports.sql" with { type: "text" };
import editsAndRecalls from "./migrations/0018-edits-and-recalls.sql" with { type: "text" };
import readMarks from "./migrations/0019-read-marks.sql" with { type: "text" };
import usersByPlace from "./migrations/0020-users-by-place.sql" with { type: "text" };
import scheduledSends from "./migrations/0021-scheduled-sends.sql" with { type: "text" };
import formerParticipants from "./migrations/0022-former-participants.sql" with { type: "text" };
import lastSeen from "./migrations/0023-last-seen.sql" with { type: "text" };
import webhooks from "./migrations/0024-webhooks.sql" with { type: "text" };
import files from "./migrations/0025-files.sql" with { type: "text" };
import webhooksInParts from "./migrations/0026-webhooks-in-parts.sql" with { type: "text" };
import dueEventsOfOrganizations from "./migrations/0027-due-events-of-organizations.sql" with { type: "text" };
import prefixesAndAnswers from "./migrations/0028-prefixes-and-answers.sql" with { type: "text" };
import unreadInAnIndex from "./migrations/0029-unread-in-an-index.sql" with { type: "text" };
import silentAndExpiringSends from "./migrations/0030-silent-and-expiring-sends.sql" with { type: "text" };
import inbox from "./migrations/0031-inbox.sql" with { type: "text" };
import importedInboxes from "./migrations/0032-imported-inboxes.sql" with { type: "text" };
import webhookEvents from "./migrations/0033-webhook-events.sql" with { type: "text" };
import deliveriesOfUsers from "./migrations/0034-deliveries-of-users.sql" with { type: "text" };
import reactions from "./migrations/0035-reactions.sql" with { type: "text" };
import hiddenMessages from "./migrations/0036-hidden-messages.sql" with { type: "text" };
import proposals from "./migrations/0037-proposals.sql" with { type: "text" };
import growth from "./migrations/0038-growth.sql" with { type: "text" };
import failingWebhooks from "./migrations/0039-failing-webhooks.sql" with { type: "text" };
import people from "./migrations/0040-people.sql" with { type: "text" };

/**
 * A change of the schema. After an `expand`, earlier versions continue to work; after a `contract`, only versions that
 * know it do.
 */
export type Migration = { name: string; kind: "expand" | "contract"; steps: readonly Step[] };

/**
 * A part of a migration: statements in one transaction, an index built while others write, or an UPDATE of a few rows
 * at a time.
 */
export type Step =
  | { kind: "statements"; statements: readonly string[] }
  | { kind: "index"; statement: string }
  | { kind: "backfill"; statement: string; table: string; key: readonly string[] };

/** All migrations in order. The first has number 1. */
export const migrations: readonly Migration[] = [
  migrationOf("0001-log-and-directory", logAndDirectory),
  migrationOf("0002-nodes", nodes),
  migrationOf("0003-api-keys", apiKeys),
  migrationOf("0004-organization-tokens", organizationTokens),
  migrationOf("0005-row-security", rowSecurity),
  migrationOf("0006-audit", audit),
  migrationOf("0007-retention", retention),
  migrationOf("0008-delivery", delivery),
  migrationOf("0009-head-ids", headIds),
  migrationOf("0010-organization-limits", organizationLimits),
  migrationOf("0011-bus-secret", busSecret),
  migrationOf("0012-receipts", receipts),
  migrationOf("0013-blocked-users", blockedUsers),
  migrationOf("0014-revoked-tokens", revokedTokens),
  migrationOf("0015-row-security-of-the-server", rowSecurityOfTheServer),
  migrationOf("0016-live-keys", liveKeys),
  migrationOf("0017-imports", imports),
  migrationOf("0018-edits-and-recalls", editsAndRecalls),
  migrationOf("0019-read-marks", readMarks),
  migrationOf("0020-users-by-place", usersByPlace),
  migrationOf("0021-scheduled-sends", scheduledSends),
  migrationOf("0022-former-participants", formerParticipants),
  migrationOf("0023-last-seen", lastSeen),
  migrationOf("0024-webhooks", webhooks),
  migrationOf("0025-files", files),
  migrationOf("0026-webhooks-in-parts", webhooksInParts),
  migrationOf("0027-due-events-of-organizations", dueEventsOfOrganizations),
  migrationOf("0028-prefixes-and-answers", prefixesAndAnswers),
  migrationOf("0029-unread-in-an-index", unreadInAnIndex),
  migrationOf("0030-silent-and-expiring-sends", silentAndExpiringSends),
  migrationOf("0031-inbox", inbox),
  migrationOf("0032-imported-inboxes", importedInboxes),
  migrationOf("0033-webhook-events", webhookEvents),
  migrationOf("0034-deliveries-of-users", deliveriesOfUsers),
  migrationOf("0035-reactions", reactions),
  migrationOf("0036-hidden-messages", hiddenMessages),
  migrationOf("0037-proposals", proposals),
  migrationOf("0038-growth", growth),
  migrationOf("0039-failing-webhooks", failingWebhooks),
  migrationOf("0040-people", people),
];

/**
 * The schema version of the last release without expand and contract. Migrations up to it ran in one transaction, without
 * backfills or concurrent indexes, and each excluded the versions before it.
 */
export const lastOfOld = 8;

/**
 * Parses a migration. Its first line says `-- expand` or `-- contract`. `CREATE INDEX CONCURRENTLY` is a step of its
 * own, as is an UPDATE below a line `-- backfill: <table> (<its primary key>)`; consecutive other statements form one
 * step.
 */
export function migrationOf(name: string, sql: string): Migration {
  const kind = /^-- (expand|contract)\b/.exec(sql)?.[1] === "expand" ? "expand" : "contract";
  const statements = sql.split(/;\s*\n/).filter((part) => part.trim() !== "");
  const steps: Step[] = [];
  for (const statement of statements) {
    const backfill = /^-- backfill: (\S+) \(([^)]+)\)$/m.exec(statement);
    const last = steps.at(-1);
    if (backfill !== null) {
      const [, table = "", key = ""] = backfill;
      steps.push({ kind: "backfill", statement, table, key: key.split(", ") });
    } else if (/^CREATE (UNIQUE )?INDEX CONCURRENTLY\b/m.test(statement)) steps.push({ kind: "index", statement });
    else if (last?.kind === "statements")
      steps[steps.length - 1] = { ...last, statements: [...last.statements, statement] };
    else steps.push({ kind: "statements", statements: [statement] });
  }
  return { name, kind, steps };
}
