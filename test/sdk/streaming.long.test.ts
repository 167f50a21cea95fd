import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { useHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";

const herald = useHerald();
const folder = mkdtempSync(join(tmpdir(), "herald-sdk-"));
const program = join(folder, "streaming-program.mjs");

beforeAll(async () => {
  const entrypoints = [join(import.meta.dir, "streaming-program.ts")];
  const built = await Bun.build({ entrypoints, target: "node", format: "esm" });
  await Bun.write(program, (await built.outputs[0]?.text()) ?? "");
});
afterAll(() => rmSync(folder, { recursive: true }));

test.each([["node"], [process.execPath]])(
  "streams go both ways, and end with the loop, the signal or their source, and the process with them (%s)",
  async (runtime) => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    const child = Bun.spawn([runtime, program, herald().url, herald().key, org.id, cid], {
      stdout: "pipe",
      stderr: "pipe",
      timeout: 30_000,
    });
    const [code, stdout, stderr] = await Promise.all([
      child.exited,
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    expect({ code, stdout: stdout.trimEnd().split("\n"), stderr }).toEqual({
      code: 0,
      stdout: [
        "answered 3 while sending",
        "left, and its source was returned",
        "aborted with the reason",
        "failed with the error of its source",
        "piped 50000 characters in 2 calls",
      ],
      stderr: "",
    });
  },
);
