import { expect, test } from "bun:test";
import { createApiKey } from "./api-key.ts";

test("an API key is an id, 190 bits of secret and a checksum, and no two are alike", () => {
  const keys = Array.from({ length: 200 }, createApiKey);
  for (const key of keys) expect(key).toMatch(/^hk_[0-9A-Za-z]{12}_[0-9A-Za-z]{38}$/);
  expect(new Set(keys).size).toBe(200);
});
