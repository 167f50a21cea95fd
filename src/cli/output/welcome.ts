import { resolve } from "node:path";
import type { Style } from "./output.ts";

/** What there is to play with. */
type Demo = { organization: string; users: string[]; conversation: string };

/** What `herald serve` tells about a server that has just started. */
export type Started = {
  url: string;
  /** `isShown`: it was made just now, and what is printed goes to a terminal, where nobody keeps it. */
  adminKey: { value: string; file: string | undefined; isShown: boolean };
  demo: Demo | undefined;
  /** The data folder, and the settings file if there was one: a second terminal needs to know them too. */
  dataDir: string;
  configFile: string | undefined;
};

const defaultUrl = "http://127.0.0.1:7070";

/** The page for the person at the terminal: what to do first, in the order in which it is done. */
export function renderWelcome(started: Started, style: Style): string {
  const { url, adminKey, demo } = started;
  const keyPlace = adminKey.file === undefined ? "from HERALD_ADMIN_API_KEY" : resolve(adminKey.file);
  const key = adminKey.isShown ? `${adminKey.value}\n${row("", `shown this once; kept in ${keyPlace}`)}` : keyPlace;
  return [
    "",
    `  ${style.bold("Herald")} listens on ${style.cyan(url)}`,
    "",
    ...(demo === undefined ? [] : [...inTheBrowser(url, style), ...firstSteps(started, demo, style)]),
    row("Admin API key", key),
    row("Console", `${url}/console`),
    row("Documentation", `${url}/docs`),
    ...(demo === undefined
      ? [row("To try it out", "HERALD_DEMO=1 with an empty HERALD_DATA_DIR makes a demo organization")]
      : []),
    "",
  ].join("\n");
}

/** A line of what there is to know: its name, its value. */
export function row(label: string, value: string): string {
  return `  ${label.padEnd(15)}${value}`;
}

/** The address alone: a key in it would stay in the terminal and in the browser's history (docs/decisions/pages/0029-demo-page.md). */
function inTheBrowser(url: string, style: Style): string[] {
  return [
    `  ${style.bold("See it")} in the browser, as three users at once; the page asks for the admin API key:`,
    "",
    `     ${style.cyan(`${url}/console/demo`)}`,
    "",
    `  ${style.bold("Or in terminals.")}`,
    "",
  ];
}

function firstSteps(started: Started, demo: Demo, style: Style): string[] {
  const [, listener = "bob"] = demo.users;
  const needsVariable = started.adminKey.file === undefined ? ", with HERALD_ADMIN_API_KEY set there" : "";
  return [
    `  ${style.bold("1.")} Listen, in a second terminal${needsVariable}:`,
    "",
    `     ${listenCommand(started, demo.organization, listener)}`,
    "",
    `  ${style.bold("2.")} Send, in a third:`,
    "",
    ...sendCommand(started, demo),
    "",
  ];
}

/** The lines of a command that sends a message to the demo's conversation, from any folder of this machine. */
export function sendCommand({ url, adminKey }: Pick<Started, "url" | "adminKey">, demo: Demo): string[] {
  const [sender = "alice"] = demo.users;
  const envelope = {
    organizationId: demo.organization,
    senderId: sender,
    message: { cid: demo.conversation, body: "Hello from Herald" },
  };
  const key = adminKey.file === undefined ? "$HERALD_ADMIN_API_KEY" : `$(cat ${quote(resolve(adminKey.file))})`;
  return [
    `     curl ${url}/admin/message \\`,
    `       -H "Admin-Api-Key: ${key}" \\`,
    `       -H "Content-Type: application/json" \\`,
    `       -d ${quote(JSON.stringify(envelope))}`,
  ];
}

/** A command that listens. The second terminal has none of this one's settings, so what is not the default is said again. */
export function listenCommand({ url, adminKey, dataDir, configFile }: Started, org: string, user: string): string {
  const isOwnFolder = adminKey.file !== undefined && resolve(dataDir) !== resolve("./data");
  return [
    ...(isOwnFolder && configFile === undefined ? [`HERALD_DATA_DIR=${quote(resolve(dataDir))}`] : []),
    `npx herald listen --org ${quote(org)} --user ${quote(user)}`,
    ...(url === defaultUrl ? [] : [`--url ${url}`]),
    ...(configFile === undefined ? [] : [`--config ${quote(resolve(configFile))}`]),
  ].join(" ");
}

/** A word of a POSIX shell. */
function quote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
