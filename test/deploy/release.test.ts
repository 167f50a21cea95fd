import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { z } from "zod";
import packageJson from "../../package.json" with { type: "json" };

const step = z.object({ uses: z.string().optional(), run: z.string().optional(), with: z.unknown().optional() });
const job = z.object({ permissions: z.record(z.string(), z.string()), steps: z.array(step) });
const workflowSchema = z.object({ permissions: z.strictObject({}), jobs: z.record(z.string(), job) });

const text = readFileSync(".github/workflows/release.yml", "utf8");
const { jobs } = workflowSchema.parse(Bun.YAML.parse(text));
const steps = Object.values(jobs).flatMap((one) => one.steps);

test("the release workflow uses GitHub's own actions only, and may write only in the job that releases", () => {
  const actions = steps.flatMap(({ uses }) => uses ?? []);
  expect(actions.filter((action) => !/^actions\/[\w-]+@v\d+$/.test(action))).toEqual([]);
  const writers = Object.entries(jobs).filter(([, { permissions }]) => Object.values(permissions).includes("write"));
  expect(writers.map(([name]) => name)).toEqual(["release"]);
});

test("its steps are valid shell, run scripts that exist, and take no text from outside into a command", () => {
  const scripts = new Set(Object.keys(packageJson.scripts));
  for (const { run = "" } of steps) {
    const { exitCode, stderr } = Bun.spawnSync(["bash", "-n"], { stdin: Buffer.from(run) });
    expect({ exitCode, stderr: stderr.toString() }).toEqual({ exitCode: 0, stderr: "" });
    expect([...run.matchAll(/npm run ([\w:-]+)/g)].filter(([, name = ""]) => !scripts.has(name))).toEqual([]);
    expect(run).not.toContain("${{");
  }
});

test.each([[[]], [["--tag", "v9.9.9"]]])("a release needs the tag of its version: %p", (args) => {
  const { exitCode, stderr } = Bun.spawnSync([process.execPath, "tools/release/release.ts", ...args]);
  expect({ exitCode, stderr: stderr.toString() }).toEqual({
    exitCode: 1,
    stderr: expect.stringContaining(`--tag must be v${packageJson.version}`),
  });
});
