// Checks that every exported function, constant, type and class of src/ and sdk/ has a docstring (style.md). Scans
// lines without a parser, as Biome's formatter puts each export at the start of a line.
import { readFileSync } from "node:fs";
import { sourceFiles } from "./source-files.ts";

const declaration =
  /^(export )?(?:declare )?(?:default )?(?:abstract )?(?:async )?(?:function\*?|const|let|type|interface|class|enum) ([\w$]+)/;
const inferred = /^export type [\w$]+ =\s*z\.(?:infer|input|output)<typeof ([\w$]+)>/;
const transparent = /^(?:\/\/ ?(?:biome-ignore|oxlint-|@ts-)|@\w)/;

/** Whether a `/** … *\/` ends directly above line `index`; decorators and linter directives may stand between. */
const hasDocstring = (lines: readonly string[], index: number): boolean => {
  let above = index - 1;
  while (above >= 0 && (lines[above] === "" || transparent.test(lines[above] ?? ""))) above--;
  if (!(lines[above] ?? "").trimEnd().endsWith("*/")) return false;
  while (above >= 0 && !(lines[above] ?? "").includes("/*")) above--;
  return (lines[above] ?? "").trimStart().startsWith("/**");
};

/**
 * The exports of a file without a docstring, as `line: name`. A name that already has one (an overload, a type beside
 * its schema) needs no second, nor does a type inferred from a documented schema.
 */
export const undocumented = (source: string): string[] => {
  const lines = source.split("\n").map((line) => line.trimEnd());
  const documented = new Set<string>();
  return lines.flatMap((line, index) => {
    const [, isExported, name] = declaration.exec(line) ?? [];
    if (name === undefined) return [];
    const schema = inferred.exec(`${line} ${(lines[index + 1] ?? "").trim()}`)?.[1];
    if (documented.has(name)) return [];
    if (hasDocstring(lines, index) || (schema !== undefined && documented.has(schema))) {
      documented.add(name);
      return [];
    }
    return isExported === undefined ? [] : [`${index + 1}: ${name}`];
  });
};

const isTest = (path: string): boolean => /\.test\.tsx?$/.test(path);

if (import.meta.main) {
  const files = sourceFiles(["src", "sdk"]).filter((path) => !isTest(path));
  const problems = files.flatMap((path) => undocumented(readFileSync(path, "utf8")).map((found) => `${path}:${found}`));
  for (const problem of problems) console.error(`${problem} is exported and has no docstring`);
  console.log(`${files.length} files, ${problems.length} problems`);
  process.exit(problems.length === 0 ? 0 : 1);
}
