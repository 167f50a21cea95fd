// `npm run generate:sdks`: writes the models of the SDKs in other languages, generated from docs/reference/openapi.json.
// With `--check`, writes nothing and fails if a checked-in copy differs. It needs each language's tools; the generators come
// from the language's registry, which takes a minute the first time.
import { readFileSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import { findGo } from "../test/harness/engines/go.ts";
import { generateGoModels, goModelsFile } from "./sdks/go-models.ts";

/** What makes the models of each language: the file, and its text; `undefined` if the language's tools are missing. */
const generators: readonly (() => Promise<{ file: string; text: string } | undefined>)[] = [
  async () => {
    const go = await findGo();
    return go === undefined ? undefined : { file: goModelsFile, text: await generateGoModels(go) };
  },
];

const isCheck = process.argv.includes("--check");
let isDone = true;
for (const generate of generators) {
  const made = await generate();
  if (made === undefined) {
    isDone = false;
    continue;
  }
  const name = relative(process.cwd(), made.file);
  if (readFileSync(made.file, "utf8") === made.text) continue;
  if (isCheck) {
    console.error(`${name}: differs from docs/reference/openapi.json; run \`npm run generate:sdks\``);
    isDone = false;
  } else {
    writeFileSync(made.file, made.text);
    console.log(`wrote ${name}`);
  }
}
process.exit(isDone ? 0 : 1);
