import { expect, test } from "bun:test";
import { createLoneBusSecrets } from "../../store/nodes/nodes.ts";
import { followBusSecrets } from "./bus-secrets.ts";

test("nodes that begin together all use the same secret of 32 random bytes, and follow added and removed ones", async () => {
  const busSecrets = createLoneBusSecrets();
  const taken: string[][] = [];
  let secrets = busSecrets.list;
  const follow = () =>
    followBusSecrets({
      busSecrets: { ...busSecrets, list: () => secrets() },
      clock: { now: () => 0 },
      take: (all) => taken.push(all),
    });
  await Promise.all([follow()(), follow()(), follow()()]);
  const [first = ""] = await busSecrets.list();
  expect(Buffer.from(first, "base64url")).toHaveLength(32);
  expect(taken).toEqual([[first], [first], [first]]);
  secrets = async () => [first, "another"];
  const again = follow();
  await again();
  secrets = async () => ["another"];
  await again();
  expect(taken.slice(3)).toEqual([[first, "another"], ["another"]]);
});
