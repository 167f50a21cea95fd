import { expect, test } from "bun:test";
import { tellOutages } from "./outages.ts";

test("of consecutive failures the first one is reported, and the recovery; then it starts over", async () => {
  const told: string[] = [];
  let failure: string | undefined;
  const work = tellOutages(
    async () => {
      if (failure !== undefined) throw new Error(failure);
    },
    { onError: (error) => told.push(String(error)), onRecovery: () => told.push("over") },
  );
  for (const next of [undefined, "one", "two", undefined, undefined, "three"]) {
    failure = next;
    await work();
  }
  expect(told).toEqual(["Error: one", "over", "Error: three"]);
});
