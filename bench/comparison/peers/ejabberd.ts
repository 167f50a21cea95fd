import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { startPostgres } from "../../../test/harness/engines/postgres.ts";
import { maskedFrame } from "../../harness/clients/handshake.ts";
import { type Step, upgrade } from "../generator.ts";
import { type StartCompared, text } from "../peer.ts";
import { findProgram, startProgram } from "./programs.ts";

const room = "hall@conference.localhost";
const password = "secret";
const schema = "/usr/share/ejabberd/sql/pg.sql";

/** ejabberd over WebSocket: a room with many occupants, which archives a message in PostgreSQL before it passes it on. */
export const startEjabberd: StartCompared = async (folder) => {
  if (findProgram("ejabberdctl", "ejabberd erlang-p1-pgsql") === undefined) return undefined;
  const postgres = await startPostgres();
  if (postgres === undefined) return undefined;
  const database = await postgres.createDatabase();
  await loadSchema(database);
  const [library = ""] = new Bun.Glob("/usr/lib/*-linux-gnu/ejabberd-*/ebin/ejabberd.app").scanSync("/");
  const program = await startProgram((port) => {
    const file = join(folder, "ejabberd.yml");
    writeFileSync(file, configurationOf(port, new URL(database)));
    const variables = {
      ERL_LIBS: join(library, "../../.."),
      EJABBERD_CONFIG_PATH: file,
      EJABBERD_LOG_PATH: join(folder, "log"),
    };
    const assigned = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
    const options = ["+S", "1", "+sbwt", "none", "-mnesia", "dir", `"${join(folder, "mnesia")}"`, "-s", "ejabberd"];
    return ["env", ...assigned, "erl", "-noinput", ...options];
  });
  const register = (user: string) => call(program.port, "register", { user, password });
  await call(program.port, "create_room", { name: "hall", service: "conference.localhost" });
  await register("publisher");
  return {
    name: "ejabberd",
    durability: "flushed",
    settings:
      "a room with `presence_broadcast: []` and `mam: true`, `mod_mam` with PostgreSQL, `+S 1 +sbwt none`; publishers are not in the room, and the answer is the room's to a query that follows the message",
    version: /ejabberd-([\d.]+)/.exec(library)?.[1] ?? "unknown",
    port: program.port,
    pids: [program.pid, postgres.pid],
    async listeners(count) {
      const users = Array.from({ length: count }, (_, index) => `u${index}`);
      await Promise.all(users.map(register));
      return users.map((user) => [...opening(user), joining(user)]);
    },
    publisher: {
      opening: opening("publisher"),
      request: Buffer.concat([publication, query].map(maskedFrame)),
      answer: "frame",
    },
    async stop() {
      await program.stop();
      postgres.stop();
    },
  };
};

/** `publisher` administrates rooms, and may therefore send to one without being in it. */
function configurationOf(port: number, database: URL): string {
  return `
hosts: [localhost]
loglevel: error
listen:
  - port: ${port}
    ip: 127.0.0.1
    module: ejabberd_http
    backlog: 1024
    request_handlers: {/ws: ejabberd_http_ws, /api: mod_http_api}
acl: {publisher: {user: publisher}}
access_rules: {publishers: {allow: publisher}}
api_permissions: {local: {who: {ip: 127.0.0.1}, what: [create_room, register]}}
sql_type: pgsql
sql_server: ${database.hostname}
sql_port: ${database.port}
sql_username: ${database.username}
sql_database: ${database.pathname.slice(1)}
modules:
  mod_http_api: {}
  mod_muc_admin: {}
  mod_mam: {default: always, db_type: sql}
  mod_muc:
    access_admin: publishers
    max_users: 20000
    default_room_options: {mam: true, max_users: 20000, persistent: true, presence_broadcast: []}
`;
}

async function loadSchema(database: string): Promise<void> {
  await using sql = new SQL(database);
  await sql.file(schema);
}

/** Calls a command of its HTTP API. */
async function call(port: number, command: string, parameters: Readonly<Record<string, string>>): Promise<void> {
  const body = JSON.stringify({ host: "localhost", ...parameters });
  const response = await fetch(`http://127.0.0.1:${port}/api/${command}`, { method: "POST", body });
  if (!response.ok) throw new Error(`ejabberd refuses ${command}: ${await response.text()}`);
}

/** XMPP over WebSocket (RFC 7395): a stream, its features, authentication (RFC 6120, section 6), a new stream, a resource. */
function opening(user: string): Step[] {
  const open = '<open xmlns="urn:ietf:params:xml:ns:xmpp-framing" to="localhost" version="1.0"/>';
  const credentials = btoa(`\0${user}\0${password}`);
  return [
    upgrade("/ws", { protocol: "xmpp" }),
    say(open, 2),
    say(`<auth xmlns="urn:ietf:params:xml:ns:xmpp-sasl" mechanism="PLAIN">${credentials}</auth>`, 1),
    say(open, 2),
    say('<iq type="set" id="1"><bind xmlns="urn:ietf:params:xml:ns:xmpp-bind"/></iq>', 1),
  ];
}

/** Enters the room (XEP-0045, section 7.2), which answers with its own presence, that of the new occupant, and its subject. */
function joining(nick: string): Step {
  const history = '<x xmlns="http://jabber.org/protocol/muc"><history maxstanzas="0"/></x>';
  return say(`<presence to="${room}/${nick}">${history}</presence>`, 3);
}

const parameter = '<x xmlns="urn:herald:bench" kind="note"/>';
const publication = `<message type="groupchat" to="${room}"><body>${text}</body>${parameter}</message>`;

/** A room takes what a client sends in turn: its answer tells that the message before is archived and passed on. */
const query = `<iq type="get" id="2" to="${room}"><subscriptions xmlns="urn:xmpp:mucsub:0"/></iq>`;

function say(content: string, answers: number): Step {
  return { bytes: maskedFrame(content), answers };
}
