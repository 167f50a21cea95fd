import { expect, setDefaultTimeout, test } from "bun:test";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { readPage } from "./markdown.ts";
import { start } from "./process.ts";
import { createFreshCopy, readersEnvironment } from "./workspace.ts";

setDefaultTimeout(240_000);

/** `npm ci` takes half a minute on an idle machine with two cores, and other tests run beside it. */
const installMs = 180_000;

async function freePort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no free port");
  return String(address.port);
}

/** The command beginning with `name` in the server's output, with its continuation lines. */
function pasted(output: string, name: string): string {
  const command = new RegExp(`^ *(${name}[^\\n]*?(?:\\\\\\n[^\\n]*?)*)$`, "m").exec(output)?.[1];
  if (command === undefined) throw new Error(`the server did not print a command with ${name}:\n${output}`);
  return command;
}

test("in a fresh copy, the README's first command installs and starts, and what the server prints works when pasted", async () => {
  const command = readPage("README.md").blocks.find(({ how }) => how === "start")?.text ?? "";
  expect(command.trim()).toBe("npm ci && npm start");
  using copy = createFreshCopy();
  const port = await freePort();
  const offline = { npm_config_prefer_offline: "true", npm_config_audit: "false", npm_config_fund: "false" };
  const server = start(["bash", "-c", command], {
    cwd: copy.folder,
    env: readersEnvironment({ ...offline, HERALD_PORT: port }),
  });
  const pasteboard = readersEnvironment({});
  try {
    await server.waitFor(/Herald is listening on \S+[\s\S]*Documentation/, installMs);
    const listener = start(["bash", "-c", pasted(server.output, "npx herald listen")], {
      cwd: copy.folder,
      env: pasteboard,
    });
    try {
      await listener.waitFor(/connected to/, 10_000);
      // From any folder: the output names the key's file by its full path.
      const curl = start(["bash", "-c", pasted(server.output, "curl")], { cwd: tmpdir(), env: pasteboard });
      expect({ code: await curl.ended, output: curl.output }).toEqual({
        code: 0,
        output: expect.stringMatching(/"ask":\{"mid":"[^"]+","server_mid":"[^"]+","t":\d+\}/),
      });
      await listener.waitFor(/welcome {2}alice {2}Hello from Herald/, 5_000);
    } finally {
      await listener.stop();
    }
  } finally {
    await server.stop();
  }
  expect(server.output).toContain('"msg":"stopped"');
});
