import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { hasRegistry } from "../harness/engines/installed.ts";
import { useHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";
import { createProject, type Project, packSdk, type Tarball } from "./project.ts";

setDefaultTimeout(120_000);

const herald = useHerald();
const compiler = join(process.cwd(), "node_modules/@typescript/native/bin/tsc");

/** Receives what it sends: both entries, in any runtime. */
const program = `
import { createClient, HeraldRequestError } from "@herald/sdk";
import { createAdmin, HeraldApiError } from "@herald/sdk/admin";
import { verifyWebhook } from "@herald/sdk/webhooks";
const env = globalThis.process?.env ?? globalThis.Deno.env.toObject();
const { URL: url = "", KEY: key = "", ORG: org = "", CID: cid = "" } = env;
const admin = createAdmin({ url, key });
const { token } = await admin.createToken(org, "bob");
const { promise, resolve } = Promise.withResolvers ? Promise.withResolvers() : (() => {
  let resolve; const promise = new Promise((done) => { resolve = done; }); return { promise, resolve };
})();
const { WebSocket } = globalThis.WebSocket ? globalThis : await import("ws");
const client = createClient({
  url,
  token: () => token,
  WebSocket,
  onMessage: ({ body }) => resolve(body),
  onSystemMessage: () => undefined,
  onStateChange: (state) => {
    if (state === "connected") void admin.sendMessage({ organizationId: org, senderId: "alice", message: { cid, body: "from the package" } });
  },
});
client.start();
console.log(await promise, typeof HeraldRequestError, typeof HeraldApiError, typeof verifyWebhook);
client.stop();
`;

const typed = `
import { type Client, createClient, type Message } from "@herald/sdk";
import { type AdminClient, createAdmin, type HeraldApiError } from "@herald/sdk/admin";
import type { WebhookPayload } from "@herald/sdk/webhooks";
const heard: Message[] = [];
export const client: Client = createClient({ url: "http://localhost:7070", token: () => "t", onMessage: (message) => heard.push(message), onSystemMessage: ({ x }) => x });
export const admin: AdminClient = createAdmin({ url: "http://localhost:7070", key: "k" });
export async function count(): Promise<number> {
  let replayed = 0;
  for await (const answer of admin.sendBatch([])) if (answer.replayed) replayed += 1;
  return replayed;
}
export function nameOf(error: HeraldApiError): string {
  switch (error.code) {
    case "sender_not_participant":
    case "unreachable":
    case "of a later version":
      return error.title ?? error.detail;
    default:
      return error.code;
  }
}
export const isTest = (payload: WebhookPayload): boolean => payload.type === "webhook.test" && payload.data.webhook !== "";
// @ts-expect-error: a client needs a token
createClient({ url: "http://localhost:7070", onMessage: () => undefined, onSystemMessage: () => undefined });
`;

const compilerOptions = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
  types: [],
  target: "ES2022",
  lib: ["ES2023", "DOM"],
  skipLibCheck: false,
};

/** The settings of a TypeScript project with one kind of module resolution. */
const projectOf = (module: string, moduleResolution: string) =>
  JSON.stringify({ compilerOptions: { ...compilerOptions, module, moduleResolution }, files: ["typed.ts"] });

describe.if(hasRegistry())("the packed SDK in a fresh project", () => {
  let tarball: Tarball;
  let project: Project;
  beforeAll(() => {
    tarball = packSdk();
    project = createProject(
      {
        "program.mjs": program,
        "typed.ts": typed,
        "bundler.json": projectOf("ESNext", "bundler"),
        "node16.json": projectOf("Node16", "node16"),
        "nodenext.json": projectOf("NodeNext", "nodenext"),
      },
      { "@herald/sdk": tarball.file, ws: "8.23.0", node: "22.23.3", deno: "2.9.6" },
    );
  });
  afterAll(() => {
    project[Symbol.dispose]();
    tarball[Symbol.dispose]();
  });

  test.each(["bundler", "node16", "nodenext"])("is typed for moduleResolution %s", (name) => {
    expect(project.run([compiler, "-p", `${name}.json`])).toBe("");
  });

  test.each([
    ["the Node that runs these tests", [Bun.which("node") ?? "node", "program.mjs"]],
    ["Node 22", ["node_modules/node/bin/node", "program.mjs"]],
    ["Deno", ["node_modules/.bin/deno", "run", "--quiet", "--allow-env", "--allow-net", "--allow-read", "program.mjs"]],
    ["Bun", [process.execPath, "program.mjs"]],
  ])("sends and receives in %s", async (_, command) => {
    const organization = await createOrganization(herald());
    const cid = await organization.conversation(["alice", "bob"]);
    const env = { URL: herald().url, KEY: herald().key, ORG: organization.id, CID: cid };
    const child = Bun.spawn(command, {
      cwd: project.folder,
      env: { ...process.env, ...env },
      stdout: "pipe",
      stderr: "pipe",
    });
    const output = [new Response(child.stdout).text(), new Response(child.stderr).text()];
    expect([await child.exited, ...(await Promise.all(output))]).toEqual([
      0,
      "from the package function function function\n",
      "",
    ]);
  });
});
