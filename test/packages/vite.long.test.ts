import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { findChromium, launchChromium } from "../console/browser.ts";
import { start } from "../docs/process.ts";
import { freePort } from "../harness/engines/free-port.ts";
import { hasRegistry } from "../harness/engines/installed.ts";
import { startHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";
import { createProject, outsideEnvironment, type Project, packSdk } from "./project.ts";

setDefaultTimeout(120_000);

const compiler = join(process.cwd(), "node_modules/@typescript/native/bin/tsc");
const packages = {
  vite: "8.3.8",
  "@vitejs/plugin-react": "6.3.0",
  react: "19.3.1",
  "react-dom": "19.3.1",
  "@types/react": "19.3.0",
  "@types/react-dom": "19.3.0",
};

const app = {
  "index.html": `<!doctype html><div id="root"></div><script type="module" src="/main.tsx"></script>`,
  "vite.config.js": `
import react from "@vitejs/plugin-react";
export default { plugins: [react()] };
`,
  "tsconfig.json": JSON.stringify({
    compilerOptions: {
      strict: true,
      noEmit: true,
      jsx: "react-jsx",
      module: "ESNext",
      moduleResolution: "bundler",
      target: "ES2022",
      lib: ["ES2023", "DOM"],
      types: ["vite/client"],
      skipLibCheck: true,
    },
    files: ["main.tsx"],
  }),
  "main.tsx": `
import { HeraldProvider, useConnection, useConversation } from "@herald/sdk/react";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

const { VITE_URL: url, VITE_TOKEN: token, VITE_CID: cid } = import.meta.env;

function Conversation() {
  const { state } = useConnection();
  const { messages } = useConversation(cid);
  return <><h1>{state}</h1>{messages.map(({ _id, from, body }) => <p key={_id}>{from}: {body}</p>)}</>;
}

const app = <StrictMode><HeraldProvider url={url} token={() => token}><Conversation /></HeraldProvider></StrictMode>;
createRoot(document.getElementById("root")!).render(app);
`,
};

const chromium = findChromium();

describe.if(chromium !== undefined && hasRegistry())("the packed SDK in an app of Vite and React", () => {
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

  test("is typed", () => {
    expect(project.run([compiler, "-p", "."])).toBe("");
  });

  test.each([
    ["while it is developed, where StrictMode mounts everything twice", []],
    ["as it is built", ["preview"]],
  ])("shows each message once, over one connection, %s", async (_, mode) => {
    const port = String(freePort());
    const origin = `http://localhost:${port}`;
    await using herald = await startHerald({ env: { HERALD_ALLOWED_ORIGINS: origin } });
    const organization = await createOrganization(herald);
    const cid = await organization.conversation(["alice", "bob"]);
    const settings = { VITE_URL: herald.url, VITE_TOKEN: await organization.token("bob"), VITE_CID: cid };
    if (mode.length > 0) project.run(["node_modules/.bin/vite", "build"], settings);
    const command = ["node_modules/.bin/vite", ...mode, "--port", port, "--strictPort"];
    const server = start(command, { cwd: project.folder, env: outsideEnvironment(settings) });
    try {
      await server.waitFor(/Local:/, 30_000);
      const page = await browser.newPage();
      await page.goto(origin);
      await page.getByText("connected", { exact: true }).waitFor();
      const { body } = await herald.admin<{ items: object[] }>("GET", organization.path("online"));
      expect(body.items).toEqual([{ id: "bob", connections: 1 }]);
      await organization.sent("alice", { cid, body: "first" });
      await organization.sent("alice", { cid, body: "second" });
      await page.getByText("alice: first").waitFor(); // heard, or read by the view, whose code is loaded when it is used
      await page.getByText("alice: second").waitFor();
      expect(await page.getByText("alice: ").allTextContents()).toEqual(["alice: first", "alice: second"]);
    } finally {
      await server.stop();
    }
  });
});
