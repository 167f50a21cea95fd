import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSecret, readOrCreateSecret } from "./secret-file.ts";

test("a secret is created once, readable by the owner only, and read from then on", () => {
  const folder = mkdtempSync(join(tmpdir(), "herald-secret-"));
  const file = join(folder, "data", "secret");
  const [first, second] = [createSecret(), createSecret()];
  expect(readOrCreateSecret(file, () => first)).toEqual({ value: first, isNew: true });
  expect(readOrCreateSecret(file, () => second)).toEqual({ value: first, isNew: false });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  rmSync(folder, { recursive: true });
});
