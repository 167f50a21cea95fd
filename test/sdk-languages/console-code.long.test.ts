import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { type ActionName, actions, type Call } from "../../console/state/code/actions.ts";
import { codeOf, type Language, languages } from "../../console/state/code/languages.ts";
import { callsOf } from "../../console/state/code/page-calls.ts";
import { buildSdk } from "../../tools/build/sdk.ts";
import { type Started, start } from "../docs/process.ts";
import { findGo } from "../harness/engines/go.ts";
import { findPython, keepEnvironment } from "../harness/engines/python.ts";
import { useHerald } from "../harness/servers/herald.ts";
import { createKey } from "../harness/servers/keys.ts";
import { createOrganization, type Organization } from "../harness/servers/organization.ts";

const root = resolve(import.meta.dir, "../..");
const herald = useHerald();
setDefaultTimeout(300_000); // Go builds a program for each feed
const folder = mkdtempSync(join(tmpdir(), "herald-console-code-"));
afterAll(() => rmSync(folder, { recursive: true }));
const go = await findGo();
const python = await findPython();

type Example = { name: string; call: Call };

/** What each page shows, and each kind of send with all that it can have. */
async function findExamples(org: Organization): Promise<Example[]> {
  const cid = await org.conversation(["alice", "bob"], "parcels of Bob's");
  const { server_mid } = await org.sent("alice", { cid, body: "Your parcel comes at nine." });
  await org.sentSystem("alice", { id: "paid", uids: ["bob"], keep_days: 7, x: { text: "paid" } });
  await herald().admin("PUT", org.path("webhooks", "push"), { url: "https://push.example.org/herald" });
  const key = await createKey(herald(), { scopes: ["observe"] });
  const ids = {
    conversations: cid,
    messages: server_mid,
    "system-messages": "paid",
    users: "bob",
    webhooks: "push",
    organizations: org.id,
    keys: key.id,
  };
  const lists = ["overview", "scheduled", "proposals", "live", "audit", ...Object.keys(ids)];
  const routes = [
    ...lists.map((page) => ({ page, id: undefined, query: {} })),
    ...Object.entries(ids).map(([page, id]) => ({
      page,
      id,
      query: page === "system-messages" ? { from: "alice" } : ({} as Record<string, string>),
    })),
  ];
  const calls = [
    ...routes.flatMap((route) => callsOf(route, org.id)),
    ...sendsOf(org.id, cid),
    ...formsOf(org.id, "parcels of Bob's"),
  ];
  return calls.map((call, place) => ({ name: `${call.action.toLowerCase()}${place}`, call }));
}

/** Go builds the program first. */
const feedMayTakeMs = 60_000;
const later = "2027-11-28T09:30:00.000Z";

function sendsOf(organizationId: string, cid: string): Call[] {
  const x = { order: 4711, "paid-by": ["card", null, true, 1.5], note: { text: 'it\'s "fine"\nand ends' } };
  const sender = { organizationId, senderId: "alice" };
  const attachments = [{ name: "invoice.pdf", size: 48_211, content_type: "application/pdf" }];
  const body = '- It\'s "here": $HOME, {ünïcode} & more\nsecond line \\n';
  return [
    {
      action: "sendMessage",
      names: {},
      body: { ...sender, message: { id: "from code", cid, body, x, attachments, silent: true, expires_at: later } },
    },
    {
      action: "sendSystemMessage",
      names: {},
      body: {
        ...sender,
        messageSystem: { id: "all of it", uids: ["alice", "bob"], x, keep_days: 3, key: "parcel", silent: true },
      },
    },
    {
      action: "sendSystemMessage",
      names: {},
      body: { ...sender, messageSystem: { id: "to a conversation", cid, x: { a: 1 }, expires_at: later } },
    },
    {
      action: "sendSystemMessage",
      names: {},
      body: { ...sender, messageSystem: { id: "to all", everyone: true, x: { a: 1 } } },
    },
    {
      action: "schedule",
      names: { org: organizationId, id: "planned" },
      body: {
        send_at: "2027-01-02T03:04:05.006Z",
        request: { ...sender, message: { cid, body: "later", attachments } },
      },
    },
    {
      action: "schedule",
      names: { org: organizationId, id: "planned too" },
      body: { send_at: later, request: { ...sender, messageSystem: { uids: ["bob"], x: { a: 1 }, keep_days: 1 } } },
    },
  ];
}

function formsOf(org: string, cid: string): Call[] {
  const limits = { requests_per_second: 900, messages_per_second: null, connections: 0, stored_bytes: 10_000_000_000 };
  const key = { name: 'Bob\'s "key"', scopes: ["message:send", "system:send"], organization: org };
  return [
    { action: "putUser", names: { org, uid: "bob" }, body: { name: "Bob" } },
    { action: "putUser", names: { org, uid: "alice" }, body: { name: null } },
    { action: "putUser", names: { org, uid: "carol" }, body: {} },
    { action: "putConversation", names: { org, cid }, body: { name: "Parcels", participants: ["alice", "bob"] } },
    { action: "putOrganization", names: { org }, body: { name: "Org & Co", limits } },
    {
      action: "putWebhook",
      names: { org, wid: "ops" },
      body: {
        ...{ url: "https://ops.example.org/herald", events: ["scheduled.failed", "users.presence"] },
        ...{ wait_seconds: 60, until: "acknowledged" },
      },
    },
    { action: "createKey", names: {}, body: key },
    {
      action: "createKey",
      names: {},
      body: { ...key, allowed_senders: ["alice", "bob"], cidrs: ["192.0.2.0/24", "::1/128"], expires_at: later },
    },
  ];
}

const isFeed = ({ call }: Example) => actions[call.action].isFeed === true;

/** How the examples of a language run: one command for all, and one for a feed, which has no end. */
type Runner = {
  prepare: (examples: readonly Example[]) => Promise<void> | void;
  all: (names: readonly string[]) => string[];
  feed: (name: string) => string[];
};

const place = (language: Language, name: string) => join(folder, language, name);

/** Writes the code of the examples to files of these names, changed as `adapt` says. */
function write(
  language: Language,
  examples: readonly Example[],
  fileOf: (name: string) => string,
  adapt = (code: string, _name: string) => code,
): void {
  for (const { name, call } of examples) {
    const file = place(language, fileOf(name));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, adapt(codeOf(call, language, herald().url), name));
  }
}

function inShell(language: "curl" | "cli"): Runner {
  const fileOf = (name: string) => `${name}.sh`;
  const command = `herald() { ${process.execPath} ${root}/src/cli/herald.ts "$@"; }\n`;
  return {
    prepare: (examples) =>
      write(language, examples, fileOf, (code) =>
        // `curl` succeeds on refusals unless it is told not to.
        language === "curl" ? code.replace(/^curl /, "curl -sS --fail-with-body ") : command + code,
      ),
    all: (names) => ["bash", "-ec", `for file in "$@"; do bash -e "$file"; done`, "all", ...names.map(fileOf)],
    feed: (name) => ["bash", fileOf(name)],
  };
}

const inTypeScript: Runner = {
  prepare(examples) {
    write("typescript", examples, (name) => `${name}.ts`);
    const sdk = place("typescript", "node_modules/@herald/sdk");
    buildSdk(join(sdk, "dist"));
    copyFileSync(join(root, "sdk/package.json"), join(sdk, "package.json"));
  },
  all: (names) => [process.execPath, "-e", names.map((name) => `await import("./${name}.ts");`).join("\n")],
  feed: (name) => [process.execPath, `${name}.ts`],
};

let interpreter = "";
const inPython: Runner = {
  async prepare(examples) {
    interpreter = await keepEnvironment(python ?? "", join(import.meta.dir, "python/requirements.txt"));
    write("python", examples, (name) => `${name}.py`);
  },
  all: (names) => {
    const each = "import runpy, sys\nfor file in sys.argv[1:]: runpy.run_path(file)";
    return [interpreter, "-c", each, ...names.map((name) => `${name}.py`)];
  },
  feed: (name) => [interpreter, "-u", `${name}.py`],
};

const inGo: Runner = {
  async prepare(examples) {
    const module = "github.com/herald-im/herald/sdk-go";
    const lines = ["module shop", "go 1.24", `require ${module} v0.0.0`, `replace ${module} => ${root}/sdk-go`];
    write("go", examples, (name) => `${name}/main.go`);
    writeFileSync(place("go", "go.mod"), `${lines.join("\n")}\n`);
    const formatted = start([join(dirname(go ?? ""), "gofmt"), "-l", "."], {
      cwd: place("go", ""),
      env: environment(),
    });
    expect([await formatted.ended, formatted.output]).toEqual([0, ""]);
    // Linked once: the programs are packages of another one.
    const asPackage = (code: string, name: string) =>
      code.replace("package main", `package ${name}`).replace("func main()", "func Main()");
    const plain = examples.filter((example) => !isFeed(example));
    write("go", plain, (name) => `all/${name}/${name}.go`, asPackage);
    const calls = plain.map(({ name }) => `\t${name}.Main()\n`).join("");
    const imports = plain.map(({ name }) => `import "shop/all/${name}"\n`).join("");
    writeFileSync(place("go", "all/main.go"), `package main\n${imports}func main() {\n${calls}}\n`);
  },
  all: () => [go ?? "", "run", "./all"],
  feed: (name) => [go ?? "", "run", `./${name}`],
};

const runners: Record<Language, Runner> = {
  curl: inShell("curl"),
  cli: inShell("cli"),
  typescript: inTypeScript,
  python: inPython,
  go: inGo,
};
const isMissing: Partial<Record<Language, boolean>> = { python: python === undefined, go: go === undefined };

function environment(): Record<string, string> {
  return {
    ...(process.env as Record<string, string>),
    HERALD_ADMIN_API_KEY: herald().key,
    PYTHONPATH: join(root, "sdk-python/src"),
    GOFLAGS: "-mod=mod",
    NO_COLOR: "1",
  };
}

describe("the code that the console shows", () => {
  let org: Organization;
  let examples: Example[];
  beforeAll(async () => {
    org = await createOrganization(herald());
    examples = await findExamples(org);
  });

  /** Runs a feed until it prints what is sent meanwhile. */
  async function hears(feed: Started): Promise<void> {
    const heard = feed.waitFor(/still sending/, feedMayTakeMs);
    const talking = setInterval(
      () => void org.sentSystem("alice", { uids: ["bob"], x: { text: "still sending" } }),
      300,
    );
    await heard.finally(() => clearInterval(talking));
    feed.kill();
  }

  test("is about everything that it knows", () => {
    const shown = new Set<ActionName>(examples.map(({ call }) => call.action));
    expect([...shown].sort()).toEqual((Object.keys(actions) as ActionName[]).sort());
  });

  for (const [language, name] of languages) {
    test.skipIf(isMissing[language] === true)(`runs as it stands in ${name}`, async () => {
      const { prepare, all, feed } = runners[language];
      await prepare(examples);
      const options = { cwd: place(language, ""), env: environment() };
      const names = examples.filter((example) => !isFeed(example)).map((example) => example.name);
      const run = start(all(names), options);
      expect([await run.ended, run.output]).toEqual([0, expect.stringContaining("Your parcel comes at nine.")]);
      for (const example of examples.filter(isFeed)) await hears(start(feed(example.name), options));
    });
  }

  test("sends the same in all languages: a second one with the same id is a retry", async () => {
    const history = await org.history("parcels of Bob's");
    expect(history.filter(({ body = "" }) => body.includes("ünïcode"))).toEqual([
      expect.objectContaining({ attachments: [expect.objectContaining({ file_name: "invoice.pdf" })] }),
    ]);
    const keys = await herald().admin<{ items: { name: string; cidrs: string[] | null }[] }>("GET", "/admin/keys");
    const made = keys.body.items.filter(({ name }) => name.startsWith("Bob's"));
    const withoutDates = made.map(({ name, cidrs }) => `${name} ${cidrs}`).sort();
    expect([...new Set(withoutDates)]).toEqual([`Bob's "key" 192.0.2.0/24,::1/128`, `Bob's "key" null`]);
    const { body } = await herald().admin<{ items: { id: string; send_at: string }[] }>("GET", org.path("scheduled"));
    expect(body.items.map(({ id, send_at }) => [id, send_at])).toEqual([
      ["planned", "2027-01-02T03:04:05.006Z"],
      ["planned too", later],
    ]);
  });
});
