import { test } from "bun:test";
import { connect } from "node:net";
import { importInto } from "../contract/transfer/lines.ts";
import { sendBatch } from "../harness/clients/batch.ts";
import { eventually } from "../harness/deadline.ts";
import { useHerald } from "../harness/servers/herald.ts";
import { createKey } from "../harness/servers/keys.ts";
import { createOrganization } from "../harness/servers/organization.ts";

const herald = useHerald();

const timesEach = 20;

/** Sends the beginning of a request and hangs up, before there is an answer. */
async function hangUp(method: string, path: string, key: string): Promise<void> {
  const { hostname, port } = new URL(herald().url);
  const socket = connect(Number(port), hostname).on("error", () => undefined);
  const isClosed = new Promise<void>((resolve) => void socket.once("close", () => resolve()));
  const lines = [`${method} ${path} HTTP/1.1`, "Host: x", `Admin-Api-Key: ${key}`];
  const body = method === "POST" ? ["Content-Type: application/x-ndjson", "Content-Length: 1000", "", '{"a'] : ["", ""];
  await new Promise<void>((resolve) => void socket.write([...lines, ...body].join("\r\n"), () => resolve()));
  socket.destroy();
  await isClosed;
}

test("whoever hangs up before the answer of an import, an export or a batch leaves no place taken", async () => {
  const org = await createOrganization(herald());
  const { key } = await createKey(herald(), { organization: org.id });
  const again: [method: string, path: string, () => Promise<{ status: number }>][] = [
    ["POST", org.path("import"), () => importInto(org, [{ user: { id: "u" } }], { key })],
    ["GET", org.path("export"), () => herald().http("GET", org.path("export"), { headers: { "Admin-Api-Key": key } })],
    ["POST", "/admin/message/batch", () => sendBatch(herald(), ["x"], { key })],
  ];
  for (const [method, path, ask] of again) {
    for (let time = 0; time < timesEach; time++) await hangUp(method, path, key);
    await eventually(async () => {
      const answers = await Promise.all(Array.from({ length: 4 }, ask)); // as many as an organization may at once
      return answers.every(({ status }) => status === 200) || undefined;
    }, `four free places at ${path}`);
  }
});
