import { describe, expect, test } from "bun:test";
import { createApiKey } from "./api-key.ts";
import { createRedaction, withoutCredentials } from "./redaction.ts";

const token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJl-_x";

describe("credentials are known by their form", () => {
  test("an API key keeps its id, whatever stands around it, whole or not", () => {
    const { id, key } = createApiKey();
    expect(withoutCredentials(key)).toBe(`hk_${id}_…`);
    expect(withoutCredentials(`a "${key}", ${key}`)).toBe(`a "hk_${id}_…", hk_${id}_…`);
    expect(withoutCredentials(key.slice(0, -9))).toBe(`hk_${id}_…`);
    expect(withoutCredentials(key.toUpperCase())).not.toContain(key.slice(40).toUpperCase());
  });

  test("a user token, and a password in a URL", () => {
    expect(withoutCredentials(`{"id":"${token}"}`)).toBe('{"id":"eyJ…"}');
    expect(withoutCredentials(`Bearer ${token.slice(0, -12)}`)).toBe("Bearer eyJ…");
    expect(withoutCredentials("at postgres://herald:pass%20word@db:5432/herald, nats://token@bus")).toBe(
      "at postgres://…@db:5432/herald, nats://…@bus",
    );
    expect(withoutCredentials(encodeURIComponent("nats://token@bus"))).toBe("nats%3A%2F%2F…%40bus");
    expect(withoutCredentials("/message/nats:~1~1token@bus")).toBe("/message/nats:~1~1…@bus");
  });

  test("however long and odd a text is, it is read in about as much time as it has bytes", () => {
    const odd = ["eyJ", "eyJa.", "hk_", "://", ":~1~1a", "a://", "eyJ-", "%3a%2f%2f", ":a@"];
    const timeOf = (text: string) => {
      const startedAt = performance.now();
      withoutCredentials(text);
      return performance.now() - startedAt;
    };
    for (const piece of odd) expect(timeOf(piece.repeat(1_000_000 / piece.length))).toBeLessThan(2_000);
  });

  test("what is none stays as it is: ids, cursors, addresses", () => {
    const cursor = Buffer.from(JSON.stringify({ id: "a" })).toString("base64url");
    for (const text of ["", "hk_alice", createApiKey().id, cursor, "https://example.org/@alice", "alice@example.org"])
      expect(withoutCredentials(text)).toBe(text);
  });
});

describe("the secrets of a server", () => {
  const secret = 'a"secret\\of any&form/0123456789';

  test("are taken out as they are, in JSON and in a URL, and so are those added later", () => {
    const { redact, add } = createRedaction([secret, "short"]);
    for (const text of [secret, JSON.stringify({ a: secret }), `/path/${encodeURIComponent(secret)}?x`])
      expect(redact(text)).not.toContain("0123456789");
    expect(redact("a short word")).toBe("a short word");
    expect(redact("later-0123456789")).toBe("later-0123456789");
    add(["later-0123456789"]);
    expect(redact("later-0123456789")).toBe("…");
    expect(redact(`${secret} ${token}`)).toBe("… eyJ…");
  });

  test("are taken out of a line of JSON so that it stays one", () => {
    const { redact } = createRedaction([secret]);
    const line = JSON.stringify({ err: { message: `no ${secret}` }, org: secret, id: token });
    expect(JSON.parse(redact(line))).toEqual({ err: { message: "no …" }, org: "…", id: "eyJ…" });
  });
});
