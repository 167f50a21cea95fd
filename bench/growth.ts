// Measures messages that grow: `exec bun bench/growth.ts` in about eight minutes, or `--quick` in one. `--only listeners,latency,edits`
// runs parts of it: one answer that 1,000 clients listen to while nodes are killed; how long pieces of 200 answers at once take to the
// screens; and answers by appends beside the same ones by edits. It fails if anybody has another text in the end.
import { parseArgs } from "node:util";
import { measureEdits } from "./growth/edits.ts";
import { measureLatency } from "./growth/latency.ts";
import { measureListeners } from "./growth/listeners.ts";

const { values } = parseArgs({
  options: { quick: { type: "boolean", default: false }, only: { type: "string", default: "listeners,latency,edits" } },
});
const isQuick = values.quick;
const parts: Record<string, () => Promise<string[]>> = {
  listeners: () =>
    measureListeners(
      isQuick
        ? { listeners: 200, pieces: 400, bytes: 20_000, seconds: 10, processes: 2 }
        : { listeners: 1_000, pieces: 2_000, bytes: 100_000, seconds: 60, processes: 2 },
    ),
  latency: () => measureLatency({ answers: 200, listeners: 3, seconds: isQuick ? 4 : 15, rounds: isQuick ? 1 : 5 }),
  edits: () =>
    measureEdits({
      answers: isQuick
        ? [{ pieces: 100, bytes: 1_700 }]
        : [
            { pieces: 400, bytes: 6_700 },
            { pieces: 2_000, bytes: 100_000 },
          ],
      rounds: isQuick ? 1 : 3,
    }),
};

const problems: string[] = [];
for (const name of values.only.split(",")) {
  const measure = parts[name];
  if (measure === undefined) throw new Error(`--only knows ${Object.keys(parts).join(", ")}, not ${name}`);
  console.log(`\n${name}\n`);
  problems.push(...(await measure()));
}
for (const problem of problems) console.error(`FAIL: ${problem}`);
process.exit(problems.length === 0 ? 0 : 1);
