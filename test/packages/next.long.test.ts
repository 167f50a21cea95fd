import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser } from "playwright-core";
import { findChromium, launchChromium } from "../console/browser.ts";
import { start } from "../docs/process.ts";
import { freePort } from "../harness/engines/free-port.ts";
import { hasRegistry } from "../harness/engines/installed.ts";
import { startHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";
import { createProject, outsideEnvironment, type Project, packSdk } from "./project.ts";

setDefaultTimeout(150_000);

const packages = {
  next: "16.4.6",
  react: "19.3.1",
  "react-dom": "19.3.1",
  typescript: "5.9.3",
  "@types/node": "22.19.1",
  "@types/react": "19.3.0",
};

/** Server code that gets a token and sends, and components of the page that receive. */
const app = {
  "app/admin.ts": `
import { createAdmin } from "@herald/sdk/admin";
export const { URL: url = "", KEY: key = "", ORG: org = "", CID: cid = "" } = process.env;
export const createOurAdmin = () => createAdmin({ url, key }); // not while the app is built, when there is no URL
`,
  "app/layout.tsx": `
export default function Layout({ children }: { children: React.ReactNode }) {
  return <html lang="en"><body>{children}</body></html>;
}
`,
  "app/page.tsx": `
import { connection } from "next/server";
import { cid, createOurAdmin, org, url } from "./admin";
import { Inbox } from "./inbox";
export default async function Page() {
  await connection();
  const { token } = await createOurAdmin().createToken(org, "bob");
  return <Inbox url={url} token={token} cid={cid} />;
}
`,
  "app/say/route.ts": `
import { cid, createOurAdmin, org } from "../admin";
export async function POST(request: Request) {
  const message = { cid, body: await request.text() };
  const { ask } = await createOurAdmin().sendMessage({ organizationId: org, senderId: "alice", message });
  return Response.json({ id: ask.server_mid });
}
`,
  "app/inbox.tsx": `
"use client";
import { HeraldProvider, useConnection, useConversation } from "@herald/sdk/react";
export function Inbox({ url, token, cid }: { url: string; token: string; cid: string }) {
  return <HeraldProvider url={url} token={() => token}><Conversation cid={cid} /></HeraldProvider>;
}
function Conversation({ cid }: { cid: string }) {
  const { state } = useConnection();
  const { messages } = useConversation(cid);
  return <><h1>{state}</h1>{messages.map(({ _id, from, body }) => <p key={_id}>{from}: {body}</p>)}</>;
}
`,
};

const chromium = findChromium();

describe.if(chromium !== undefined && hasRegistry())("the packed SDK in an app of Next.js", () => {
  let project: Project;
  let browser: Browser;
  beforeAll(async () => {
    using tarball = packSdk();
    project = createProject(app, { ...packages, "@herald/sdk": tarball.file });
    browser = await launchChromium(chromium ?? "");
  });
  afterAll(async () => {
    await browser.close();
    project[Symbol.dispose]();
  });

  test("is built, renders on the server without connecting, and receives in the browser what a route sends", async () => {
    project.run(["node_modules/.bin/next", "build"]);
    const port = String(freePort());
    const origin = `http://localhost:${port}`;
    await using herald = await startHerald({ env: { HERALD_ALLOWED_ORIGINS: origin } });
    const organization = await createOrganization(herald);
    const cid = await organization.conversation(["alice", "bob"]);
    const env = outsideEnvironment({ URL: herald.url, KEY: herald.key, ORG: organization.id, CID: cid });
    const command = ["node_modules/.bin/next", "start", "--port", port];
    const server = start(command, { cwd: project.folder, env });
    try {
      await server.waitFor(/Ready/, 30_000);
      expect(await (await fetch(origin)).text()).toContain("<h1>stopped</h1>");
      const { body } = await herald.admin<{ items: object[] }>("GET", organization.path("online"));
      expect(body.items).toEqual([]);

      const page = await browser.newPage();
      const complaints: string[] = [];
      page.on("pageerror", (error) => complaints.push(String(error)));
      await page.goto(origin);
      await page.getByText("connected", { exact: true }).waitFor();
      const said = await fetch(`${origin}/say`, { method: "POST", body: "from a route" });
      expect(said.status).toBe(200);
      await page.getByText("alice: from a route").waitFor();
      expect(complaints).toEqual([]);
    } finally {
      await server.stop();
    }
  });
});
