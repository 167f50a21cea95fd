import type { Signer } from "../../../src/bus/signatures.ts";
import { logSubject } from "../../../src/bus/subjects.ts";
import type { Random } from "../../harness/random.ts";

const mostRecorded = 50;

/** Somebody who reads and writes on the bus, without the secret of the nodes. */
export type Forger = {
  /** Turns a hint just overheard into another, for the same organization or for one heard of before. */
  forge(org: string, overheard: string): { org: string; text: string };
};

/** Creates a forger whose signer knows only a secret of its own. */
export function createForger(random: Random, signer: Signer): Forger {
  signer.take(["a secret that no node knows"]);
  const recorded: { org: string; text: string }[] = [];
  const pick = <Value>(values: readonly [Value, ...Value[]]): Value =>
    values[random.integer(0, values.length - 1)] ?? values[0];

  function changed(org: string, text: string): Record<string, unknown> {
    const hint: Record<string, unknown> = JSON.parse(text);
    const { id, offset } = hint;
    const follows = { id: `forged after ${id}`, offset: Number(offset) + 1, prev: id, cid: "c1" };
    const everybody = ["u1", "u2", "u3", "u4"];
    return {
      ...hint,
      ...pick<object>([
        { payload: '{"message":{"_id":"forged"}}' },
        { ...follows, kind: "message", payload: '{"message":{"_id":"forged"}}' },
        { ...follows, kind: "message", payload: "no JSON" },
        { ...follows, kind: "membership", payload: JSON.stringify({ added: everybody, removed: [] }) },
        { ...follows, kind: "membership", payload: JSON.stringify({ added: [], removed: everybody }) },
        { ...follows, kind: "session", payload: JSON.stringify({ issuedBefore: 1e12 }) },
        { ...follows, kind: "session", payload: "null" },
        { offset: 2 ** 50 },
        { id: `forged in place of ${id}` },
        { prev: "forged" },
        { org },
      ]),
    };
  }

  return {
    forge(org, overheard) {
      const earlier = recorded[random.integer(0, recorded.length)] ?? { org, text: overheard };
      recorded[recorded.length < mostRecorded ? recorded.length : random.integer(0, mostRecorded - 1)] = {
        org,
        text: overheard,
      };
      const forged = JSON.stringify(changed(org, overheard));
      return pick<() => { org: string; text: string }>([
        () => ({ org, text: forged }),
        () => ({ org, text: JSON.stringify({ ...JSON.parse(forged), mac: undefined }) }),
        () => ({ org, text: signer.sign("hint", logSubject(org), forged) ?? "" }),
        () => ({ org, text: overheard.slice(0, random.integer(0, overheard.length)) }),
        () => earlier, // unchanged
        () => ({ org, text: earlier.text }), // to another organization
      ])();
    },
  };
}
