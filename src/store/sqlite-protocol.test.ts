import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { isIdentifier } from "../contract/identifiers.ts";
import type { NewSend } from "./ports.ts";
import { packSends, unpackSends } from "./sqlite-protocol.ts";

const anyIdentifier = fc.string({ unit: "binary", minLength: 1, maxLength: 128 }).filter(isIdentifier);
const anySend: fc.Arbitrary<NewSend> = fc.record({
  org: anyIdentifier,
  kind: fc.constantFrom("message", "system"),
  id: fc.uuid({ version: 7 }),
  cid: fc.option(anyIdentifier, { nil: undefined }),
  sender: anyIdentifier,
  mid: fc.option(anyIdentifier, { nil: undefined }),
  fingerprint: fc.base64String(),
  payload: fc.jsonValue().map((value) => JSON.stringify({ message: value })),
  uids: fc.option(fc.array(anyIdentifier, { maxLength: 5 }), { nil: undefined }),
  createdAt: fc.nat({ max: Number.MAX_SAFE_INTEGER }),
  keyId: anyIdentifier,
});

describe("sends that cross to the thread that writes", () => {
  test("arrive as they were, whatever their identifiers and texts are", () => {
    fc.assert(
      fc.property(fc.array(anySend, { minLength: 1, maxLength: 5 }), (sends) =>
        expect(unpackSends(packSends(sends))).toEqual(sends),
      ),
      { numRuns: 500 },
    );
  });

  test("are refused when an identifier is none", () => {
    const [send] = fc.sample(anySend, 1);
    expect(() => unpackSends(packSends([{ ...send, mid: "a\u001fb" } as NewSend]))).toThrow("control character");
  });

  test("keep control characters of a text, and the very characters that stand between the fields", () => {
    const [send] = fc.sample(anySend, 1);
    const texts = Array.from({ length: 32 }, (_, code) => String.fromCharCode(code)).join("");
    const told = { ...send, payload: JSON.stringify({ message: { body: texts } }) } as NewSend;
    const [arrived] = unpackSends(packSends([told]));
    expect(JSON.parse(arrived?.payload ?? "").message.body).toBe(texts);
  });
});
