import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { HeraldError } from "../../contract/errors/errors.ts";
import { isIdentifier } from "../../contract/identifiers.ts";
import type { NewSend, SendOutcome } from "../ports.ts";
import { packOutcomes, packSends, unpackOutcomes, unpackSends } from "./protocol.ts";

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
  silent: fc.constantFrom(true, undefined),
  expiresAt: fc.option(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), { nil: undefined }),
  referred: fc.option(fc.array(anyIdentifier, { minLength: 1, maxLength: 2 }), { nil: undefined }),
  createdAt: fc.nat({ max: Number.MAX_SAFE_INTEGER }),
  keyId: anyIdentifier,
});

describe("sends passed to the writing thread", () => {
  test("arrive unchanged, whatever their identifiers and texts", () => {
    fc.assert(
      fc.property(fc.array(anySend, { minLength: 1, maxLength: 5 }), (sends) =>
        expect(unpackSends(packSends(sends))).toEqual(sends),
      ),
      { numRuns: 500 },
    );
  });

  test("are refused if an identifier is invalid", () => {
    const [send] = fc.sample(anySend, 1);
    expect(() => unpackSends(packSends([{ ...send, mid: "a\u001fb" } as NewSend]))).toThrow("control character");
  });

  test("keep control characters in texts, even the separator of fields", () => {
    const [send] = fc.sample(anySend, 1);
    const texts = Array.from({ length: 32 }, (_, code) => String.fromCharCode(code)).join("");
    const told = { ...send, payload: JSON.stringify({ message: { body: texts } }) } as NewSend;
    const [arrived] = unpackSends(packSends([told]));
    expect(JSON.parse(arrived?.payload ?? "").message.body).toBe(texts);
  });
});

describe("outcomes returned by the writing thread", () => {
  const anyPlace = fc.record({
    offset: fc.nat(),
    prev: fc.option(fc.uuid(), { nil: undefined }),
    webhooks: fc.option(fc.nat(), { nil: undefined }),
  });
  const anyOutcome = ({ id, createdAt }: NewSend): fc.Arbitrary<SendOutcome> =>
    fc.oneof(
      anyPlace.map((place) => ({ outcome: "stored" as const, id, createdAt, ...place })),
      fc.constant({ outcome: "replayed", id: "first", createdAt: 1 } as const),
      fc.constant({ outcome: "conflict" } as const),
      fc.constant({ outcome: "refused", missing: "user" } as const),
    );
  const anySent = anySend.chain((send) => anyOutcome(send).map((outcome) => ({ send, outcome })));

  test("arrive unchanged, whatever they are", () => {
    fc.assert(
      fc.property(fc.array(anySent, { maxLength: 8 }), (batch) => {
        const [sends, outcomes] = [batch.map(({ send }) => send), batch.map(({ outcome }) => outcome)];
        expect(unpackOutcomes(sends, packOutcomes(sends, outcomes))).toEqual(outcomes);
      }),
    );
  });

  test("carry the error of a failed send, with its code", () => {
    const [send] = fc.sample(anySend, 1);
    const error = new HeraldError("storage_full");
    const packed = packOutcomes([send as NewSend], [{ outcome: "failed", error }]);
    const [arrived] = unpackOutcomes([send as NewSend], structuredClone(packed));
    expect(arrived).toMatchObject({ outcome: "failed", error: { code: "storage_full", message: error.message } });
  });

  test("are a single number if a send follows the organization's previous one, whatever lies between", () => {
    const [send] = fc.sample(anySend, 1);
    const sends = [1, 2, 3, 4, 5].map((id) => ({ ...send, org: id === 3 ? "p" : "o", id: `id${id}` }) as NewSend);
    const prevs = ["before", "id1", "of p", "id2", undefined];
    const outcomes = sends.map(({ id, createdAt }, index): SendOutcome => {
      return { outcome: "stored", id, createdAt, offset: index, prev: prevs[index] };
    });
    const packed = packOutcomes(sends, outcomes);
    expect(packed).toEqual([[0, "before"], 1, [2, "of p"], 3, [4, undefined]]);
    expect(unpackOutcomes(sends, packed)).toEqual(outcomes);
  });
});
