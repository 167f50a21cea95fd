import { resolve } from "node:path";
import { typedCommand } from "../own-command.ts";
import type { Style } from "./output.ts";

/** The demo data that the first steps use. */
type Demo = { organization: string; users: string[]; conversation: string };

/** What `herald serve` shows about a server that has just started. */
export type Started = {
  url: string;
  /** The internal address; `url` unless there is one. */
  adminUrl: string;
  /** `isShown`: the key was just generated, and the output goes to a terminal, which does not store it. */
  adminKey: { value: string; file: string | undefined; isShown: boolean };
  demo: Demo | undefined;
  /** The data folder and the settings file, if any. Commands in a second terminal need them, too. */
  dataDir: string;
  configFile: string | undefined;
};

const defaultUrl = "http://127.0.0.1:7070";

/** The welcome text in the terminal: the first steps in order. */
export function renderWelcome(started: Started, style: Style): string {
  const { url, adminUrl, adminKey, demo } = started;
  const keyPlace = adminKey.file === undefined ? "from HERALD_ADMIN_API_KEY" : resolve(adminKey.file);
  const key = adminKey.isShown ? `${adminKey.value}\n${row("", `shown only once; stored in ${keyPlace}`)}` : keyPlace;
  return [
    "",
    `  ${style.bold("Herald")} is listening on ${style.cyan(url)}`,
    ...(adminUrl === url ? [] : [`  and for the admin API and the console on ${style.cyan(adminUrl)}`]),
    "",
    ...(demo === undefined ? [] : [...inTheBrowser(adminUrl, style), ...firstSteps(started, demo, style)]),
    row("Admin API key", key),
    row("Console", `${adminUrl}/console`),
    row("Documentation", `${adminUrl}/docs`),
    ...(demo === undefined
      ? [row("To try it out", "HERALD_DEMO=1 with an empty HERALD_DATA_DIR creates a demo organization")]
      : []),
    "",
  ].join("\n");
}

/** A line with a label and a value. */
export function row(label: string, value: string): string {
  return `  ${label.padEnd(15)}${value}`;
}

/** The address without a key, which would stay in the terminal and in the browser's history (docs/decisions/pages/0029-demo-page.md). */
function inTheBrowser(url: string, style: Style): string[] {
  return [
    `  ${style.bold("Try it")} in the browser, as three users at once. The page asks for the admin API key:`,
    "",
    `     ${style.cyan(`${url}/console/demo`)}`,
    "",
    `  ${style.bold("Or use terminals:")}`,
    "",
  ];
}

function firstSteps(started: Started, demo: Demo, style: Style): string[] {
  const [, listener = "bob"] = demo.users;
  const needsVariable = started.adminKey.file === undefined ? " with HERALD_ADMIN_API_KEY set" : "";
  return [
    `  ${style.bold("1.")} Listen in a second terminal${needsVariable}:`,
    "",
    `     ${listenCommand(started, demo.organization, listener)}`,
    "",
    `  ${style.bold("2.")} Send from a third:`,
    "",
    ...sendCommand(started, demo),
    "",
  ];
}

/** The lines of a command that sends a message to the demo conversation, from any folder on this machine. */
export function sendCommand({ adminUrl, adminKey }: Pick<Started, "adminUrl" | "adminKey">, demo: Demo): string[] {
  const [sender = "alice"] = demo.users;
  const envelope = {
    organizationId: demo.organization,
    senderId: sender,
    message: { cid: demo.conversation, body: "Hello from Herald" },
  };
  const key = adminKey.file === undefined ? "$HERALD_ADMIN_API_KEY" : `$(cat ${quote(resolve(adminKey.file))})`;
  return [
    `     curl ${adminUrl}/admin/message \\`,
    `       -H "Admin-Api-Key: ${key}" \\`,
    `       -H "Content-Type: application/json" \\`,
    `       -d ${quote(JSON.stringify(envelope))}`,
  ];
}

/** A command that listens. The second terminal does not have the server's settings, so the command includes those that differ from the defaults. */
export function listenCommand({ adminUrl, adminKey, dataDir, configFile }: Started, org: string, user: string): string {
  const isOwnFolder = adminKey.file !== undefined && resolve(dataDir) !== resolve("./data");
  return [
    ...(isOwnFolder && configFile === undefined ? [`HERALD_DATA_DIR=${quote(resolve(dataDir))}`] : []),
    `${typedCommand} listen --org ${quote(org)} --user ${quote(user)}`,
    ...(adminUrl === defaultUrl ? [] : [`--url ${adminUrl}`]),
    ...(configFile === undefined ? [] : [`--config ${quote(resolve(configFile))}`]),
  ].join(" ");
}

/** Quotes a word for a POSIX shell. */
function quote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
