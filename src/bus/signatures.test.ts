import { describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import fc from "fast-check";
import { createSigner, signatureLength } from "./signatures.ts";

const text = '{"v":1,"org":"o","offset":3}';

function signerOf(...secrets: string[]) {
  const clock = { at: 0, now: () => clock.at };
  const signer = createSigner(clock);
  signer.take(secrets);
  return { signer, clock };
}

function signed(secret: string, kind: "hint" | "question" | "answer" = "hint", place = "s", body = text): string {
  return signerOf(secret).signer.sign(kind, place, body) ?? "";
}

describe("a signature", () => {
  test("is the first half of an HMAC-SHA-256 over purpose, place and text, as the last member of the text", () => {
    const mac = createHmac("sha256", "secret")
      .update(`herald 1\nhint\ns\n${text.slice(0, -1)}`)
      .digest();
    expect(signed("secret")).toBe(`${text.slice(0, -1)},"mac":"${mac.subarray(0, 16).toString("base64url")}"}`);
    expect(JSON.parse(signed("secret"))).toMatchObject({ v: 1, org: "o", offset: 3 });
    expect(signed("secret").length).toBe(text.length + signatureLength);
  });

  test("is valid for its text, purpose and place, under a known secret", () => {
    const { signer } = signerOf("one", "two");
    for (const secret of ["one", "two"]) expect(signer.verify("hint", "s", signed(secret))).toBe("signed");
    expect(signer.verify("hint", "s", signed("three"))).toBe("forged");
    expect(signer.verify("hint", "t", signed("one"))).toBe("forged");
    expect(signer.verify("question", "s", signed("one"))).toBe("forged");
    expect(signer.verify("answer", "s", signed("one", "question"))).toBe("forged");
    expect(signer.verify("hint", "s", text)).toBe("unsigned");
    expect(signerOf().signer.verify("hint", "s", signed("one"))).toBe("forged");
  });

  test("covers every character, so that no modified or truncated text passes, and no text throws", () => {
    const { signer } = signerOf("one");
    const whole = signed("one");
    fc.assert(
      fc.property(
        fc.nat(whole.length - signatureLength - 2),
        fc.string({ minLength: 1, maxLength: 1 }),
        (at, character) => {
          const changed = whole.slice(0, at) + character + whole.slice(at + 1);
          fc.pre(changed !== whole);
          expect(signer.verify("hint", "s", changed)).not.toBe("signed");
          expect(signer.verify("hint", "s", whole.slice(0, at))).not.toBe("signed");
          expect(signer.verify("hint", "s", whole.slice(at + 1))).not.toBe("signed");
        },
      ),
    );
    fc.assert(fc.property(fc.string(), (any) => void signer.verify("hint", "s", any)));
    for (const mac of ["", "x", "A".repeat(22), "=".repeat(22), "é".repeat(22)])
      expect(signer.verify("hint", "s", `${text.slice(0, -1)},"mac":"${mac}"}`)).not.toBe("signed");
  });

  test("also covers changes that JSON and UTF-8 ignore", () => {
    const { signer } = signerOf("one");
    const body = JSON.stringify({ payload: 'zoë 😀 \ud800 "}' });
    const through = new TextDecoder().decode(new TextEncoder().encode(signed("one", "hint", "s", body)));
    expect(signer.verify("hint", "s", through)).toBe("signed");
  });
});

describe("secrets", () => {
  test("are followed: a new one is accepted at once and used after 30 s, and a removed one is invalid", () => {
    const { signer, clock } = signerOf("old");
    const writes = (secret: string) => expect(signer.sign("hint", "s", text)).toBe(signed(secret));
    writes("old");
    clock.at = 100_000;
    signer.take(["old", "new"]);
    writes("old");
    expect(signer.verify("hint", "s", signed("new"))).toBe("signed");
    clock.at += 29_999;
    signer.take(["old", "new"]);
    writes("old");
    clock.at += 1;
    signer.take(["old", "new"]);
    writes("new");
    signer.take(["new"]);
    writes("new");
    expect(signer.verify("hint", "s", signed("old"))).toBe("forged");
  });

  test("present at a node's start all count as new: it signs with the oldest, which every node knows", () => {
    const { signer, clock } = signerOf("old", "new");
    expect(signer.sign("hint", "s", text)).toBe(signed("old"));
    clock.at = 30_000;
    signer.take(["old", "new"]);
    expect(signer.sign("hint", "s", text)).toBe(signed("new"));
  });

  test("are required for signing", () => {
    expect(signerOf().signer.sign("hint", "s", text)).toBeUndefined();
  });
});
