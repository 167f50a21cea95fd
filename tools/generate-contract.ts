// Writes the generated part of docs/reference/ (the two machine-readable documents, and tables of errors, close codes,
// settings and commands), and the schema of the Helm chart's values. With `--check`, writes nothing and fails if a
// checked-in copy differs.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";
import { describeSettings } from "../src/config.ts";
import { closingRule } from "../src/contract/connections/realtime.ts";
import { asyncApiDocument, closeCodeTable } from "../src/contract/documents/asyncapi.ts";
import { openApiDocument } from "../src/contract/documents/openapi.ts";
import { catalogueByStatus } from "../src/contract/documents/reference/errors-page.ts";
import { errorCatalogue } from "../src/contract/errors/errors.ts";
import { scopes } from "../src/contract/keys/scopes.ts";
import { defaultPayloadLimits } from "../src/contract/limits.ts";
import { type MetricDescription, metricCatalogue } from "../src/contract/metrics.ts";
import { createOperations } from "../src/contract/operations/all.ts";
import type { Operation } from "../src/contract/operations/operation.ts";
import { fixturesSchema } from "../test/sdk/behaviour/fixture.ts";
import { cliReference } from "./cli-reference.ts";
import { chartSchema } from "./release/chart-schema.ts";

const command = "bun tools/generate-contract.ts";
const notice = `<!-- Generated from the contract by \`${command}\`; do not edit. -->`;

const json = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`;

const page = (title: string, ...parts: readonly string[]): string =>
  `${[`# ${title}`, notice, ...parts].join("\n\n")}\n`;

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string => {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), `|${"---|".repeat(head.length)}`, ...rows.map(line)].join("\n");
};

const errorsPage = (): string =>
  page(
    "Errors",
    "Every error is `application/problem+json` (RFC 9457). Programs act on `code`. A running server explains each code at `/docs/errors`.",
    table(
      ["Status", "Code", "Meaning", "What to do"],
      catalogueByStatus().map((code) => {
        const { status, title, advice } = errorCatalogue[code];
        return [String(status), `\`${code}\``, title, advice];
      }),
    ),
  );

const closeCodesPage = (): string => page("Close codes", closingRule, closeCodeTable());

const settingsPage = (): string =>
  page(
    "Settings",
    "Set these as environment variables, or in a file that you pass with `--config`. Environment variables override the file. A limit of 0 means no limit. Herald does not start if a setting is unknown or invalid.",
    table(
      ["Setting", "Default", "Meaning"],
      describeSettings().map(({ name, defaultValue, description }) => [
        `\`${name}\``,
        defaultValue === "" ? "none" : `\`${defaultValue}\``,
        description,
      ]),
    ),
  );

const scopesPage = (): string => {
  const operations = Object.values<Operation>(createOperations(defaultPayloadLimits));
  const callsOf = (scope: string): string =>
    operations
      .filter((operation) => [operation.scope].flat().some((needed) => needed === scope))
      .map(({ method, path }) => `\`${method.toUpperCase()} ${path}\``)
      .join("<br>");
  return page(
    "Scopes",
    "Scopes determine what an API key may do. Each operation needs the scope listed here, or `*`. `GET /admin/self` accepts every key. Operations that are not listed need no key.",
    table(
      ["Scope", "Allows", "Operations"],
      Object.entries(scopes).map(([scope, allows]) => [
        `\`${scope}\``,
        allows,
        scope === "*" ? "all operations" : callsOf(scope),
      ]),
    ),
  );
};

const metricsPage = (): string =>
  page(
    "Metrics",
    "The metrics that `GET /metrics` exposes to Prometheus. With `--workers`, each also has the label `worker`. No label names an organization, a user or a key.",
    table(
      ["Metric", "Type", "Labels", "Meaning"],
      Object.entries<MetricDescription>(metricCatalogue).map(([name, { type, labels, help }]) => [
        `\`${name}\``,
        type,
        labels.map((label) => `\`${label}\``).join(", "),
        help,
      ]),
    ),
  );

const files: Readonly<Record<string, string>> = {
  "docs/reference/openapi.json": json(openApiDocument()),
  "docs/reference/asyncapi.json": json(asyncApiDocument()),
  "docs/reference/errors.md": errorsPage(),
  "docs/reference/close-codes.md": closeCodesPage(),
  "docs/reference/scopes.md": scopesPage(),
  "docs/reference/metrics.md": metricsPage(),
  "docs/reference/settings.md": settingsPage(),
  "docs/reference/sdk-behaviour/fixtures.schema.json": json(z.toJSONSchema(fixturesSchema)),
  "docs/reference/cli.md": page("The command line", ...cliReference(table)),
  "deploy/helm/herald/values.schema.json": json(chartSchema()),
};

const isCurrent = (path: string, content: string): boolean =>
  existsSync(path) && readFileSync(path, "utf8") === content;

const outdated = Object.entries(files).filter(([name, content]) => !isCurrent(name, content));

if (process.argv.includes("--check")) {
  for (const [name] of outdated) console.error(`${name}: differs from the contract; run \`${command}\``);
  console.log(`${Object.keys(files).length} files, ${outdated.length} problems`);
  process.exit(outdated.length === 0 ? 0 : 1);
}

for (const [name, content] of outdated) {
  mkdirSync(dirname(name), { recursive: true });
  writeFileSync(name, content);
  console.log(`wrote ${name}`);
}
