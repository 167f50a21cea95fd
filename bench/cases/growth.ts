import { Database } from "bun:sqlite";
import { join } from "node:path";
import type { IdKind } from "../harness/clients/lane.ts";
import { type HeraldPeer, startHerald } from "../harness/herald.ts";
import { benchOrg } from "../harness/organization.ts";
import { compare } from "../harness/report/report.ts";
import { type Contender, inRounds, type Pace, type Series } from "../harness/report/rounds.ts";
import { openHeraldStage } from "../harness/stage.ts";
import type { Case, Findings } from "./case.ts";
import { type Cue, deliveriesOn } from "./deliveries.ts";
import { sendsTo, warmUp } from "./sends.ts";

const callers = 64;
const small = { events: 10_000, listeners: 100 };
const large = {
  events: 1_000_000,
  organizations: 10_000,
  participants: 100_000,
  conversations: 1_000,
  listeners: 10_000,
};
const eventsOfConversation = 1_000;
const inFlight = 1;
const tenth = { target: { atMost: 1.1 } };
const fifth = { target: { atMost: 1.2 } };

/** An organization whose `quiet` conversation has many participants, and one whose sender has many conversations. */
const [manyParticipants, manyConversations] = ["many-participants", "many-conversations"];

/**
 * Measures whether a send costs more as the log, the organizations, a conversation's participants and a sender's conversations
 * grow, and a delivery as connections do. SQLite; each large one beside a small one, by turns.
 */
export const growth: Case = async (dataDir, pace, { size = large.events }) => {
  const found: Findings = { series: {}, rows: [] };
  const compareSends = async (figure: string, ofLarge: Contender, ofSmall: Contender) => {
    const series = await inRounds([ofLarge, ofSmall], pace);
    add(found, figure, series, { measure: "serverCpuMicros", ...tenth });
  };

  const base = await openNode(join(dataDir, "base"), pace, (database) => fillLog(database, small.events));
  const long = await openNode(join(dataDir, "log"), pace, (database) => fillLog(database, size));
  for (const ids of ["rising", "random"] as const) {
    const figure = `CPU of a send, ${count(size)} events in the log, ${ids === "rising" ? "ids by time" : "random ids"}`;
    await compareSends(figure, sends(long, "herald", { ids }), sends(base, "small", { ids }));
  }
  await long.stop();

  const shared = await openNode(join(dataDir, "organizations"), pace, fillOrganizations);
  const figure = `CPU of a send, ${count(large.organizations)} organizations`;
  await compareSends(figure, sends(shared, "herald"), sends(base, "small"));
  await shared.stop();

  const uids = Array.from({ length: large.participants - 1 }, (_, index) => `u${index.toString(36)}`);
  await base.putConversation(benchOrg.quiet, uids, manyParticipants);
  const ofParticipants = `CPU of a send, ${count(large.participants)} participants`;
  await compareSends(ofParticipants, sends(base, "herald", { org: manyParticipants }), sends(base, "small"));

  for (let index = 1; index < large.conversations; index++)
    await base.putConversation(`c${index}`, [], manyConversations);
  await base.putConversation(benchOrg.quiet, [], manyConversations);
  const ofConversations = `CPU of a send, the sender has ${count(large.conversations)} conversations`;
  await compareSends(ofConversations, sends(base, "herald", { org: manyConversations }), sends(base, "small"));

  const cue: Cue = { onComplete: () => undefined };
  const stageOf = (name: string, listeners: number) =>
    openHeraldStage(base, name, listeners, { onComplete: () => cue.onComplete() });
  const [many, few] = [await stageOf("herald", large.listeners), await stageOf("small", small.listeners)];
  const contenders = [many, few].map((stage) =>
    deliveriesOn({ ...stage, peer: { ...base, name: stage.topic } }, cue, inFlight),
  );
  const series = await inRounds(contenders, pace);
  for (const { audience } of [many, few]) audience.close();
  const ofDelivery = `CPU of a delivery, ${count(large.listeners)} listeners`;
  add(found, ofDelivery, series, { measure: "cpuMicrosPerDelivery", ...fifth });
  await base.stop();
  return found;
};

const count = (number: number) => number.toLocaleString("en-US");

function add(
  { series: all, rows }: Findings,
  figure: string,
  series: Series,
  asked: { measure: string; target: { atMost: number } },
): void {
  all[figure] = series;
  rows.push(compare(series, { figure, unit: "µs", floor: "small", ...asked }));
}

function sends(
  herald: HeraldPeer,
  name: string,
  { ids = "rising", org }: { ids?: IdKind; org?: string } = {},
): Contender {
  return sendsTo({ ...herald, name }, callers, ids, org);
}

/** Starts a node on a database into which something was written directly: over HTTP it would take hours. */
async function openNode(dataDir: string, { warmUpMs }: Pace, fill: (database: Database) => void): Promise<HeraldPeer> {
  const first = await startHerald(dataDir);
  await first.putConversation(benchOrg.quiet, []);
  await first.stop();
  const file = join(dataDir, "herald", "herald.db");
  const database = new Database(file);
  database.run("PRAGMA journal_mode = OFF"); // a log of it would be as long as all of it
  database.run("PRAGMA synchronous = OFF");
  database.transaction(() => fill(database))();
  database.close(); // before the node opens it
  const herald = await startHerald(dataDir);
  await warmUp(herald, warmUpMs * 10);
  return herald;
}

/** Writes a log of so many events. Indexes are built once all are there. */
function fillLog(database: Database, events: number): void {
  const indexes = database
    .query<{ name: string; sql: string }, []>(
      "SELECT name, sql FROM sqlite_schema WHERE tbl_name = 'event' AND type = 'index' AND sql IS NOT NULL",
    )
    .all();
  for (const { name } of indexes) database.run(`DROP INDEX ${name}`);
  const insert = database.prepare(
    `INSERT INTO event (org, "offset", kind, id, cid, sender, mid, fingerprint, payload, created_at) VALUES (?, ?, 'message', ?, ?, ?, ?, ?, ?, ?)`,
  );
  const payload = JSON.stringify({ message: { body: "x".repeat(200) } });
  const head = database
    .query<{ head: number }, [string]>("SELECT head FROM organization WHERE id = ?")
    .get(benchOrg.id)?.head;
  const last = (head ?? 0) + events;
  for (let offset = last - events + 1; offset <= last; offset++) {
    const cid = `c${Math.floor(offset / eventsOfConversation)}`;
    const fingerprint = crypto.randomUUID();
    insert.run(
      benchOrg.id,
      offset,
      Bun.randomUUIDv7(),
      cid,
      benchOrg.sender,
      crypto.randomUUID(),
      fingerprint,
      payload,
      offset,
    );
  }
  for (const { sql } of indexes) database.run(sql);
  database.run("UPDATE organization SET head = ? WHERE id = ?", [last, benchOrg.id]);
}

/** Writes organizations, each with a user. */
function fillOrganizations(database: Database): void {
  for (let index = 1; index < large.organizations; index++) {
    const org = `org-${index}`;
    database.run("INSERT INTO organization (id, name, created_at) VALUES (?, ?, 1)", [org, org]);
    database.run(`INSERT INTO "user" (org, id, created_at) VALUES (?, ?, 1)`, [org, benchOrg.sender]);
  }
}
