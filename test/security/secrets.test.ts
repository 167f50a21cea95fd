import { expect, test } from "bun:test";
import { createSecretSearch, makeSecret } from "./secrets.ts";

test("the search finds a secret however it is encoded, in text and in bytes, and not in what may hold it", () => {
  const search = createSecretSearch();
  const secret = search.add("key", `${makeSecret("key")}&"`);
  const outputs: Record<string, string | Uint8Array> = {
    plain: `before ${secret} after`,
    end: secret.slice(-30),
    json: JSON.stringify({ secret }),
    url: `/x?key=${encodeURIComponent(secret)}`,
    basic: Buffer.from(`user:${secret}`).toString("base64"),
    "another user": Buffer.from(`me:${secret}!`).toString("base64"),
    hex: Buffer.from(secret).toString("hex"),
    bytes: Buffer.concat([Buffer.from([0, 255]), Buffer.from(secret), Buffer.from([254])]),
    large: new Uint8Array(Buffer.concat([Buffer.alloc(2 * 1024 * 1024), Buffer.from(secret)])),
  };
  for (const [where, output] of Object.entries(outputs)) search.look(where, output);
  expect(search.leaks.map(({ where }) => where)).toEqual(Object.keys(outputs));
  search.look("where it must be", secret, ["key"]);
  search.look("another", makeSecret("key"));
  expect(search.leaks).toHaveLength(Object.keys(outputs).length);
});
