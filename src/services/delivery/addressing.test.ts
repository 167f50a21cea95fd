import { expect, test } from "bun:test";
import { systemClock } from "../../lib/time/clock.ts";
import { createAddressing } from "./addressing.ts";

const outages = { onError: () => undefined, onRecovery: () => undefined };

/** Addressees of organizations, with a number of parts to write for each. `written` resolves once all are. */
function createAddressees(parts: Record<string, number>) {
  const left = new Map(Object.entries(parts));
  const done: string[] = [];
  const { promise: written, resolve } = Promise.withResolvers<void>();
  let failures = 0;
  return {
    done,
    written,
    failNext: () => void failures++,
    behind: async () => [...left.keys()].filter((org) => org !== "of another node" && left.get(org) !== 0),
    async addSome(org: string) {
      if (failures-- > 0) throw new Error("the database is away");
      failures = 0;
      const some = left.get(org) ?? 0;
      if (some === 0) return false;
      left.set(org, some - 1);
      done.push(org);
      if ([...left.values()].every((count) => count === 0)) resolve();
      return true;
    },
  };
}

test("addressees that a node left behind are written at the start, a part for each organization in turn", async () => {
  const addressees = createAddressees({ large: 3, small: 1 });
  const addressing = createAddressing({ addressees, elapsed: systemClock, pause: async () => undefined });
  addressing.start(outages);
  await addressees.written;
  await addressing.stop();
  expect(addressees.done).toEqual(["large", "small", "large", "large"]);
});

test("addressees of a commit are written soon after it, also if the database was away meanwhile", async () => {
  const addressees = createAddressees({ "of another node": 2 });
  const addressing = createAddressing({ addressees, elapsed: systemClock, pause: async () => undefined });
  const { promise: failed, resolve: onError } = Promise.withResolvers<void>();
  const { promise: recovered, resolve: onRecovery } = Promise.withResolvers<void>();
  addressing.start({ onError: () => onError(), onRecovery: () => onRecovery() });
  addressees.failNext();
  addressing.expect("of another node");
  await failed;
  addressing.expect("another");
  await Promise.all([addressees.written, recovered]);
  await addressing.stop();
  expect(addressees.done).toEqual(["of another node", "of another node"]);
});
