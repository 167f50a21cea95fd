// `npm run generate:sdks`: writes the models of the SDKs in other languages, generated from docs/reference/openapi.json, and what
// else of them is made by a program.
// With `--check`, writes nothing and fails if a checked-in copy differs. It needs each language's tools; the generators come
// from the language's registry, which takes a minute the first time.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import { findGo } from "../test/harness/engines/go.ts";
import { findPython, keepEnvironment } from "../test/harness/engines/python.ts";
import { generateGoModels, goModelsFile } from "./sdks/go-models.ts";
import { generatePythonModels, generatorPins, pythonModelsFile } from "./sdks/python-models.ts";
import { pythonOperations } from "./sdks/python-operations.ts";
import { pythonSyncFiles } from "./sdks/python-sync.ts";

type Made = { file: string; text: string };

/** What makes the files of each language; `undefined` if the language's tools are missing. */
const generators: readonly (() => Promise<Made[] | undefined>)[] = [
  async () => {
    const go = await findGo();
    return go === undefined ? undefined : [{ file: goModelsFile, text: await generateGoModels(go) }];
  },
  async () => {
    const python = await findPython();
    if (python === undefined) return undefined;
    const text = await generatePythonModels(await keepEnvironment(python, generatorPins));
    return [{ file: pythonModelsFile, text }, pythonOperations(), ...pythonSyncFiles()];
  },
];

const isCheck = process.argv.includes("--check");
let isDone = true;
for (const generate of generators) {
  const made = await generate();
  if (made === undefined) isDone = false;
  for (const { file, text } of made ?? []) {
    const name = relative(process.cwd(), file);
    if (existsSync(file) && readFileSync(file, "utf8") === text) continue;
    if (isCheck) {
      console.error(`${name}: differs from what it is made of; run \`npm run generate:sdks\``);
      isDone = false;
    } else {
      writeFileSync(file, text);
      console.log(`wrote ${name}`);
    }
  }
}
process.exit(isDone ? 0 : 1);
