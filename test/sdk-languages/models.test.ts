import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { goModelsFile, goModelsKey } from "../../tools/sdks/go-models.ts";
import { type Schema, toModels } from "../../tools/sdks/models-document.ts";
import { pythonModelsFile, pythonModelsKey } from "../../tools/sdks/python-models.ts";
import { pythonOperations } from "../../tools/sdks/python-operations.ts";
import { pythonSyncFiles } from "../../tools/sdks/python-sync.ts";

const root = resolve(import.meta.dir, "../..");

test("the models of the Go SDK are those of the OpenAPI document: `npm run generate:sdks` makes them anew", () => {
  const [, line = ""] = readFileSync(goModelsFile, "utf8").split("\n");
  expect(line).toBe(`// Inputs: ${goModelsKey()}`);
});

test("the models of the Python SDK are those of the documents, and so is its client that blocks", () => {
  const [, line = ""] = readFileSync(pythonModelsFile, "utf8").split("\n");
  expect(line).toBe(`# Inputs: ${pythonModelsKey()}`);
  for (const { file, text } of [pythonOperations(), ...pythonSyncFiles()])
    expect(readFileSync(file, "utf8")).toBe(text);
});

test("the Python SDK has the version of Herald", () => {
  const { version }: { version: string } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  expect(readFileSync(join(root, "sdk-python/pyproject.toml"), "utf8")).toContain(`\nversion = "${version}"\n`);
});

test("the Go SDK has the version of Herald", () => {
  const { version }: { version: string } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  expect(readFileSync(join(root, "sdk-go/herald.go"), "utf8")).toContain(`const Version = "${version}"\n`);
});

const text = { type: "string" };

test("a union of lines becomes one object, whose members are required if all lines require them", () => {
  const lines: Schema = {
    anyOf: [
      { type: "object", properties: { line: { type: "integer" }, done: text }, required: ["line", "done"] },
      { type: "object", properties: { line: { type: "integer" }, failed: text }, required: ["line", "failed"] },
    ],
  };
  expect(toModels({ Line: lines }, {})).toEqual({
    Line: {
      type: "object",
      properties: { line: { type: "integer" }, done: text, failed: text },
      required: ["line"],
    },
  });
});

test("nested objects and enumerations get names, and those of the same name must be the same", () => {
  const state = (values: string[]): Schema => ({ type: "string", enum: values });
  const owner = (values: string[]): Schema => ({ type: "object", properties: { state: state(values) } });
  const names = { "A.state": "State", "B.state": "State" };
  const { A, State } = toModels({ A: owner(["on"]), B: owner(["on"]) }, names);
  expect([A?.properties?.state, State]).toEqual([{ $ref: "#/components/schemas/State" }, state(["on"])]);
  expect(() => toModels({ A: owner(["on"]), B: owner(["off"]) }, names)).toThrow("called State");
});
