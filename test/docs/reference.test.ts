import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { useHerald } from "../harness/servers/herald.ts";
import { root } from "./markdown.ts";

type Document = { paths: Record<string, Record<string, { operationId: string; security: object[] }>> };

const herald = useHerald();

test("every operation of docs/reference/openapi.json is served: those with a key require it, the others answer", async () => {
  const document: Document = JSON.parse(readFileSync(join(root, "docs/reference/openapi.json"), "utf8"));
  expect(Object.values(document.paths).flatMap((methods) => Object.keys(methods)).length).toBeGreaterThanOrEqual(38);
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, { operationId, security }] of Object.entries(methods)) {
      const { status } = await herald().http(method.toUpperCase(), path.replaceAll(/[{}]/g, ""));
      expect({ operationId, status }).toEqual({ operationId, status: security.length > 0 ? 401 : 200 });
    }
  }
});
