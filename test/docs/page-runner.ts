import { join } from "node:path";
import { startHerald } from "../harness/servers/herald.ts";
import { type Block, type Page, root } from "./markdown.ts";
import { type Started, start } from "./process.ts";
import { signedWebhook } from "./signed-webhook.ts";
import { createWorkspace, readersEnvironment, writeSnippet } from "./workspace.ts";

const defaultAddress = /127\.0\.0\.1:7070/g;
const runMs = 60_000;
const heardMs = 20_000;

/** Whether a block needs a server. */
export function isRun({ how, language }: Block): boolean {
  return how === "run" || how === "background" || (how === "call" && language === "ts");
}

/** What a `ts call` needs around it: a client of the server that the reader has started, and a webhook that came from it. */
function callOf(text: string): string {
  const values = Object.entries(signedWebhook()).map(([name, value]) => `const ${name} = ${JSON.stringify(value)};\n`);
  return `import { createAdmin } from "@herald/sdk/admin";
const admin = createAdmin({ url: "http://127.0.0.1:7070", key: (await Bun.file("data/admin-api-key").text()).trim() });
${values.join("")}${text}`;
}

/**
 * The pattern of a `text` block: its lines in this order, possibly with others in between; `…` is anything within a
 * line.
 */
function patternOf(text: string): RegExp {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const escaped = lines.map((line) => line.trim().replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(escaped.map((line) => line.replaceAll("…", "[^\\n]*")).join("[\\s\\S]*?"));
}

// What npx does for these commands, without the 0.4 s of CPU that it takes to find them.
const quickNpx = `npx() {
  case "$1" in
    herald) shift; node "${root}/bin/herald.js" "$@" ;;
    *) "${root}/node_modules/.bin/$@" ;;
  esac
}`;

/** Whether a page is for readers who run the real npx for the first time. */
export const areFirstSteps = ({ path }: Page): boolean => path === "README.md" || path.startsWith("docs/tutorial/");

/**
 * Runs the blocks of a page in order, like its reader: in the folder of the repository, with a server just started by
 * `npm start`. Variables and functions set by one block exist in the next. Rejects with the line of the first that
 * fails.
 */
export async function runPage(page: Page): Promise<void> {
  using workspace = createWorkspace();
  await using herald = await startHerald({
    key: null,
    dataDir: join(workspace.folder, "data"),
    env: { HERALD_DEMO: "1", HERALD_WEBHOOK_ALLOW_PRIVATE: "1" },
  });
  const { host, port } = new URL(herald.url);
  const variables = writeSnippet(workspace, ".variables", "");
  const env = readersEnvironment({
    HERALD_PORT: port,
    VARIABLES: variables,
    XDG_CONFIG_HOME: join(workspace.folder, ".config"),
  });
  const npx = areFirstSteps(page) ? "" : quickNpx;
  const background: Started[] = [];
  let printed = "";

  function begin(block: Block): Started {
    const text = (block.how === "call" ? callOf(block.text) : block.text).replaceAll(defaultAddress, host);
    const snippet = () => writeSnippet(workspace, `snippet-${block.line}.${block.language}`, text);
    const command = block.language === "python" ? "python3 -u" : "npx bun";
    const code = block.language === "sh" ? text : `${command} ${snippet()}`;
    const keep = block.how === "run" ? `{ export -p; declare -f; } > "$VARIABLES"` : "";
    const script = `set -aeuo pipefail\n${npx}\nsource "$VARIABLES"\n${code}\n${keep}`;
    return start(["bash", "-c", script], { cwd: workspace.folder, env });
  }

  async function play(block: Block): Promise<void> {
    if (block.how === "background") {
      const started = begin(block);
      background.push(started);
      await started.waitFor(new RegExp(block.argument), runMs);
    } else if (isRun(block)) {
      const started = begin(block);
      const timer = setTimeout(() => void started.stop(), runMs);
      const code = await started.ended;
      clearTimeout(timer);
      printed = started.output;
      if (code !== 0) throw new Error(`ended with ${code} and printed:\n${printed}`);
    } else if (block.how === "output") {
      if (!patternOf(block.text).test(printed)) throw new Error(`is not what was printed:\n${printed}`);
    } else if (block.how === "heard") {
      const listener = background.at(-1);
      if (listener === undefined) throw new Error("nobody listens in the background");
      await listener.waitFor(patternOf(block.text), heardMs);
    }
  }

  try {
    for (const block of page.blocks) {
      await play(block).catch((cause: unknown) => {
        throw new Error(`${page.path}:${block.line} ${cause instanceof Error ? cause.message : cause}`);
      });
    }
  } finally {
    await Promise.all(background.map((started) => started.stop()));
  }
}
