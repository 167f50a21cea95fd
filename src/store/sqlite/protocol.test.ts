import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { isIdentifier } from "../../contract/identifiers.ts";
import type { BatchResult, NewSend } from "../ports.ts";
import { packResults, packSends, unpackResults, unpackSends } from "./protocol.ts";

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

describe("outcomes that cross from the thread that writes", () => {
  const anyResult: fc.Arbitrary<BatchResult> = fc.oneof(
    fc.record({ outcome: fc.constant("stored"), offset: fc.nat(), prev: fc.option(fc.uuid(), { nil: undefined }) }),
    fc.constant({ outcome: "conflict" } as const),
    fc.constant({ outcome: "refused", missing: "user" } as const),
  );

  test("arrive as they were, whatever they are", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(anySend, anyResult), { maxLength: 8 }), (batch) => {
        const [sends, results] = [batch.map(([send]) => send), batch.map(([, result]) => result)];
        expect(unpackResults(sends, packResults(sends, results))).toEqual(results);
      }),
    );
  });

  test("are a number each where one send of an organization follows the other, whatever comes between", () => {
    const [send] = fc.sample(anySend, 1);
    const sends = [1, 2, 3, 4, 5].map((id) => ({ ...send, org: id === 3 ? "p" : "o", id: `id${id}` }) as NewSend);
    const prevs = ["before", "id1", "of p", "id2", undefined];
    const results = prevs.map((prev, index): BatchResult => ({ outcome: "stored", offset: index, prev }));
    const packed = packResults(sends, results);
    expect(packed).toEqual([[0, "before"], 1, [2, "of p"], 3, [4, undefined]]);
    expect(unpackResults(sends, packed)).toEqual(results);
  });
});
