// Makes Herald one executable file. `npm run build:binary` makes dist/herald for this machine,
// `npm run build:binary -- --all` one for each target, and `npm run build:binary -- linux-arm64 …` those named.
import { statSync, writeFileSync } from "node:fs";
import { compileHerald } from "./compile.ts";
import { renderNotices } from "./notices.ts";
import { binaryOf, findTarget, targets } from "./targets.ts";

const names = process.argv.slice(2);
const wanted = names.includes("--all") ? targets : names.map(findTarget);

const make = async (file: string, build: Promise<void>): Promise<void> => {
  const startedAt = performance.now();
  await build;
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`${file}  ${(statSync(file).size / 1e6).toFixed(1)} MB  ${seconds} s`);
};

if (names.length === 0) await make("dist/herald", compileHerald("dist/herald"));
for (const target of wanted) await make(binaryOf(target), compileHerald(binaryOf(target), target));
writeFileSync("dist/third-party-licences.txt", renderNotices());
