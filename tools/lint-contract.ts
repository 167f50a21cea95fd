// Lints the two published documents of the contract: OpenAPI 3.1 with Redocly's rules, AsyncAPI 3 with the parser of
// the AsyncAPI project. Both run as libraries: nothing is reported to anyone, and references out of a document are
// refused, so nothing is fetched.
import { existsSync, readFileSync } from "node:fs";
import { Parser } from "@asyncapi/parser";
import { createConfig, lint } from "@redocly/openapi-core";
import { z } from "zod";

const openApiPath = "docs/reference/openapi.json";
const asyncApiPath = "docs/reference/asyncapi.json";

const severities = ["error", "warning", "information", "hint"];
const highestIgnoredSeverity = 2;

const outsideRefs = (value: unknown, at: string): string[] => {
  if (Array.isArray(value)) return value.flatMap((item, index) => outsideRefs(item, `${at}/${index}`));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === "$ref" && typeof inner === "string" && !inner.startsWith("#")
      ? [`${at}/${key}: ${inner} lies outside the document`]
      : outsideRefs(inner, `${at}/${key}`),
  );
};

const wrongVersion = (document: unknown, field: string, version: RegExp): string[] => {
  const found = z.looseObject({ [field]: z.string().regex(version) }).safeParse(document);
  return found.success ? [] : [`${field}: must match ${version}`];
};

const lintOpenApi = async (document: unknown): Promise<string[]> => {
  const before = [...wrongVersion(document, "openapi", /^3\.1\.\d+$/), ...outsideRefs(document, "#")];
  if (before.length > 0) return before;
  // Warnings count as errors. A server that people run themselves can name no address but localhost.
  const config = await createConfig({
    extends: ["recommended-strict"],
    rules: {
      "no-server-example.com": "off",
      "operation-operationId": "error",
      "operation-operationId-unique": "error",
    },
  });
  const problems = await lint({ ref: openApiPath, config });
  return problems.map(
    ({ ruleId, message, location }) => `${location[0]?.pointer ?? "#"}: ${message.trim()} (${ruleId})`,
  );
};

const lintAsyncApi = async (document: unknown): Promise<string[]> => {
  const before = [...wrongVersion(document, "asyncapi", /^3\.\d+\.\d+$/), ...outsideRefs(document, "#")];
  if (before.length > 0) return before;
  const diagnostics = await new Parser().validate(readFileSync(asyncApiPath, "utf8"));
  return diagnostics
    .filter(({ severity }) => severity < highestIgnoredSeverity)
    .map(({ code, message, path, severity }) => `#/${path.join("/")}: ${severities[severity]}: ${message} (${code})`);
};

const report = async (path: string, linter: (document: unknown) => Promise<string[]>): Promise<boolean> => {
  if (!existsSync(path)) {
    console.error(`${path}: is missing`);
    return false;
  }
  const problems = await linter(JSON.parse(readFileSync(path, "utf8")));
  for (const problem of problems) console.error(`${path} ${problem}`);
  console.log(`${path}: ${problems.length} problems`);
  return problems.length === 0;
};

const results = [await report(openApiPath, lintOpenApi), await report(asyncApiPath, lintAsyncApi)];
process.exit(results.every(Boolean) ? 0 : 1);
