import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { frameRequests } from "../../../src/contract/connections/frames.ts";
import { startPostgres } from "../../harness/engines/postgres.ts";
import { startCluster } from "../../harness/servers/cluster.ts";
import { errorsLogged, type Herald } from "../../harness/servers/herald.ts";
import { createOrganization, type Organization } from "../../harness/servers/organization.ts";

setDefaultTimeout(120_000);

const cursorOf = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** Cursors that Herald did not issue. PostgreSQL accepts neither the texts nor the numbers. */
const cursors = [
  ...["\u0000", "a\u0000b", "\ud800"].flatMap((text) => [
    cursorOf({ id: text }),
    cursorOf({ before: text }),
    cursorOf({ updatedAt: 1, id: text }),
  ]),
  ...[1e300, 1.5, -1e300].flatMap((number) => [
    cursorOf({ updatedAt: number, id: "a" }),
    cursorOf({ before: number, direction: "backward" }),
  ]),
];
const texts = ["\u0000", "a\u0000b", "\ud800", "\udc00x", "\u0001", "", "x".repeat(129)];

type Parameter = { name: string; in: "path" | "query" };
type Described = { paths: Record<string, Record<string, { parameters?: Parameter[]; requestBody?: unknown }>> };

const postgres = await startPostgres();
if (postgres !== undefined) {
  let cluster: Awaited<ReturnType<typeof startCluster>> | undefined;
  let herald: Herald;
  let org: Organization;
  beforeAll(async () => {
    const env = () => ({ HERALD_LIMIT_REQUESTS_PER_CONNECTION: "0" });
    cluster = await startCluster({ nodes: 1, postgres, nats: null, env });
    herald = cluster.node(0).herald;
    org = await createOrganization(herald);
    await org.conversation(["alice", "bob"], "room");
  });
  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
    postgres.stop();
  });

  test("text that PostgreSQL cannot hold is refused in every parameter of every operation, without a server error", async () => {
    const { body } = await herald.http<Described>("GET", "/openapi.json");
    const faults: string[] = [];
    let asked = 0;
    for (const [template, methods] of Object.entries(body.paths)) {
      for (const [method, { parameters = [] }] of Object.entries(methods)) {
        const known: Record<string, string> = { org: org.id, cid: "room" };
        const fill = (name: string, text: string) =>
          template.replaceAll(/\{(\w+)\}/g, (_, one: string) =>
            one === name ? encodeText(text) : encodeURIComponent(known[one] ?? "alice"),
          );
        const ask = async (path: string) => {
          asked++;
          const { status } = await herald.admin(method.toUpperCase(), path);
          if (status >= 500) faults.push(`${status} ${method} ${path}`);
        };
        for (const parameter of parameters) {
          const values = parameter.name === "cursor" ? cursors : texts;
          for (const text of values) {
            if (parameter.in === "path") await ask(fill(parameter.name, text));
            else await ask(`${fill("", "")}?${parameter.name}=${encodeText(text)}`);
          }
        }
      }
    }
    expect(faults).toEqual([]);
    expect(asked).toBeGreaterThan(200);
    expect(errorsLogged(herald)).toEqual([]);
  });

  test("a cursor with such text is refused with 422 by every list", async () => {
    for (const list of [org.path("users"), org.path("online"), "/admin/audit", "/admin/keys", "/admin/organizations"]) {
      for (const cursor of [cursorOf({ id: "\u0000" }), cursorOf({ before: "a\u0000" })])
        expect((await herald.admin("GET", `${list}?cursor=${cursor}`)).status).toBe(422);
    }
  });

  test("such text is refused in every member of every frame", async () => {
    using socket = await org.socket("alice");
    const bases: Record<string, object> = {
      connect: { token: await org.token("alice") },
      message_list: { cid: "room" },
    };
    const faults: unknown[] = [];
    for (const [operation, schema] of Object.entries(frameRequests)) {
      for (const member of Object.keys(schema.shape)) {
        if (member === "token") continue; // a bad token ends the connection, and never reaches the database
        for (const text of member === "cursor" ? cursors : texts) {
          const payload = { ...bases[operation], [member]: member === "ids" ? [text] : text };
          socket.send({ request: { [operation]: payload, id: "1" } });
          const { error } = await socket.responses.next();
          if (error === undefined || error.status >= 500) faults.push([operation, member, text, error]);
        }
      }
    }
    expect(faults).toEqual([]);
    expect(errorsLogged(herald)).toEqual([]);
  });
}

/** Percent-encodes text; lone surrogates become the bytes they would have in UTF-8, which is invalid. */
function encodeText(text: string): string {
  return text.isWellFormed() ? encodeURIComponent(text) : `%ED%A0%80${encodeURIComponent(text.toWellFormed())}`;
}
