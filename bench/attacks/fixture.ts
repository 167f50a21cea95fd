import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import type { Postgres } from "../../test/harness/engines/postgres.ts";
import type { Checkout } from "../harness/checkouts.ts";
import { type HeraldPeer, startHerald } from "../harness/herald.ts";
import { benchOrg } from "../harness/organization.ts";
import { waitForPorts } from "../harness/ports.ts";
import { type Target, tenant, tenantPath } from "./attack.ts";

/** The organization of the caller who has nothing to do with the attackers. */
export const victimOrg = "victim";

/** What attackers and the victim need to know besides the server's address. */
export type Known = Omit<Target, "url" | "run"> & { victimKey: string };

/** A database of one checkout with everyone in it. Each attack gets a copy of its own. */
export type Fixture = {
  readonly known: Known;
  /** Starts a node with the default limits on a copy. */
  startNode(settings?: Record<string, string>): Promise<AttackedNode>;
};

/** A node, and where its rows are. `stop` removes them. */
export type AttackedNode = { node: HeraldPeer; databaseUrl: string | undefined; folder: string; stop(): Promise<void> };

const longBody = "x".repeat(60_000);
const sinceMessages = 990; // slightly fewer than `since` gives, as the order of ids is not exactly that of offsets
const keyCount = 10;
const fileBytes = 32 * 1_048_576;
const tenantScopes = [
  "message:send",
  "message:edit",
  "system:send",
  "directory:read",
  "directory:write",
  "history:read",
  "files:write",
  "webhooks:manage",
  "observe",
  "keys:manage",
];
const fillersAtOnce = 8;

type Asked = { status: number; body: Record<string, unknown> };

/** Fills the first database: SQLite in the folder, or a new one of `postgres`. */
export async function openFixture(
  folder: string,
  { root }: Checkout,
  postgres: Postgres | undefined,
): Promise<Fixture> {
  await waitForPorts();
  const first = join(folder, "first");
  mkdirSync(first, { recursive: true });
  const databaseUrl = await postgres?.createDatabase();
  const settingsOf = (url: string | undefined): Record<string, string> =>
    url === undefined ? {} : { HERALD_DATABASE_URL: url };
  const filler = await startHerald(first, settingsOf(databaseUrl), { root });
  const known = await fillFixture(filler.url, { longMessages: 1_100, shortMessages: 500, since: sinceMessages });
  await filler.stop();
  let copies = 0;

  async function copyDatabase(): Promise<string | undefined> {
    if (databaseUrl === undefined || postgres === undefined) return undefined;
    const name = `attack_${copies}_${Date.now()}`;
    await using server = new SQL(`${postgres.url}/postgres`, { max: 1 });
    await server.unsafe(`CREATE DATABASE ${name} TEMPLATE ${new URL(databaseUrl).pathname.slice(1)}`);
    const url = `${postgres.url}/${name}`;
    await using copy = new SQL(url, { max: 1 });
    await copy.unsafe("ANALYZE"); // PostgreSQL does so itself within a database's first minute
    await using superuser = new SQL(postgres.asSuperuser(url), { max: 1 });
    await superuser.unsafe("CHECKPOINT");
    return url;
  }

  async function drop(url: string): Promise<void> {
    if (postgres === undefined) return;
    await waitForPorts();
    // Autovacuum may be at work, which only a superuser may end.
    await using server = new SQL(postgres.asSuperuser(`${postgres.url}/postgres`), { max: 1 });
    await server.unsafe(`DROP DATABASE ${new URL(url).pathname.slice(1)} WITH (FORCE)`);
  }

  return {
    known,
    async startNode(settings = {}) {
      copies++;
      const copy = join(folder, `copy-${copies}`);
      cpSync(first, copy, { recursive: true });
      const url = await copyDatabase();
      execFileSync("sync"); // otherwise the kernel writes the copy to the disk in the middle of the attack, half a minute later
      const node = await startHerald(copy, { ...settingsOf(url), ...settings }, { root, areLimitsKept: true });
      return {
        node,
        databaseUrl: url,
        folder: copy,
        async stop() {
          await node.stop();
          if (url !== undefined) await drop(url);
          rmSync(copy, { recursive: true, force: true });
        },
      };
    },
  };
}

/** Calls the admin API with the bootstrap key or another. Throws unless it succeeds. */
async function ask(
  url: string,
  method: string,
  path: string,
  body?: object,
  key: string = benchOrg.key,
): Promise<Asked> {
  const response = await fetch(url + path, {
    method,
    headers: { "Admin-Api-Key": key, ...(body !== undefined && { "Content-Type": "application/json" }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text.slice(0, 500)}`);
  return { status: response.status, body: text === "" ? {} : JSON.parse(text) };
}

/** The number of messages, and how many of the long ones follow the one named by `since`. */
export type FixtureSize = { longMessages: number; shortMessages: number; since: number };

/** Creates both organizations, with whatever attacks need, on a server that accepts the bench's key. */
export async function fillFixture(url: string, { longMessages, shortMessages, since }: FixtureSize): Promise<Known> {
  const victims = `/admin/organizations/${victimOrg}`;
  await ask(url, "PUT", victims, {});
  await ask(url, "PUT", `${victims}/conversations/${benchOrg.quiet}`, { participants: [benchOrg.sender] });
  await ask(url, "PUT", tenantPath(), {});
  for (const cid of [tenant.hall, tenant.chat])
    await ask(url, "PUT", tenantPath("conversations", cid), { participants: [tenant.sender, ...tenant.members] });
  await ask(url, "PUT", tenantPath("conversations", tenant.mass), {
    participants: [tenant.sender, ...tenant.massMembers],
  });

  const makeKey = async (organization: string, scopes: readonly string[]) =>
    String((await ask(url, "POST", "/admin/keys", { name: "attacks", scopes, organization })).body.key);
  const moreKeys: string[] = [];
  for (let count = 0; count < keyCount; count++) moreKeys.push(await makeKey(tenant.org, ["message:send"]));
  const short = await sendMany(url, tenant.chat, "a short one", shortMessages);
  const [massMessage = ""] = await sendMany(url, tenant.mass, "to ten thousand", 1);
  const file = await shareFile(url);
  const long = await sendMany(url, tenant.hall, longBody, longMessages); // last, as `since` gives only these
  return {
    key: await makeKey(tenant.org, tenantScopes),
    moreKeys,
    victimKey: await makeKey(victimOrg, ["message:send"]),
    since: long.at(-since) ?? "",
    received: short.slice(-100),
    massMessage,
    file,
  };
}

/** Uploads a file and sends it to the chat. */
async function shareFile(url: string): Promise<string> {
  const response = await fetch(`${url}${tenantPath("files")}?name=long`, {
    method: "POST",
    headers: { "Admin-Api-Key": benchOrg.key, "Content-Type": "text/plain" },
    body: "x".repeat(fileBytes),
  });
  const known = await response.json();
  if (response.status !== 201) throw new Error(`an upload was answered ${response.status}`);
  const attachment = { file_id: String(known.file_id), name: "long", size: fileBytes, content_type: "text/plain" };
  const message = { cid: tenant.chat, attachments: [attachment] };
  await ask(url, "POST", "/admin/message", { organizationId: tenant.org, senderId: tenant.sender, message });
  return attachment.file_id;
}

/** Sends `count` messages, and returns their ids approximately in order. */
async function sendMany(url: string, cid: string, body: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  const filler = async () => {
    while (ids.length < count) {
      const request = { organizationId: tenant.org, senderId: tenant.sender, message: { cid, body } };
      const answer = await ask(url, "POST", "/admin/message", request);
      ids.push(readId(answer.body));
    }
  };
  await Promise.all(Array.from({ length: fillersAtOnce }, filler));
  return ids.sort(); // ids rise with time
}

function readId({ ask: answer }: Record<string, unknown>): string {
  if (typeof answer !== "object" || answer === null || !("server_mid" in answer))
    throw new Error("a send without an id");
  return String(answer.server_mid);
}
