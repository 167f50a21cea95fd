import { describe, expect, test } from "bun:test";
import { startHelper } from "../../bench/harness/helper.ts";
import { tokenSecret } from "../../bench/harness/herald.ts";
import { house } from "../../bench/harness/house.ts";
import type { AttackerOrder, AttackerReport } from "../../bench/processes/attacker.ts";
import { fillGround, type Known, victimOrg } from "../../bench/siege/ground.ts";
import { eventually } from "../harness/deadline.ts";
import { useHerald } from "../harness/servers/herald.ts";
import { callWith } from "../harness/servers/keys.ts";

const herald = useHerald({
  oneNode: "what is attacked is a node",
  key: house.key,
  env: { HERALD_TOKEN_SECRET: tokenSecret },
});

/** One of each row, and the worst of their siblings; `npm run siege` plays all. */
const played = [
  "metrics",
  "bad-tokens",
  "pongs",
  "lists",
  "deaf-lists",
  "filtered-feeds",
  "directory",
  "many-keys",
  "imports",
  "refused-imports",
  "exports",
  "batches",
];
const sends = 5;
let ground: Promise<Known> | undefined;

/** What raids need, smaller than for `npm run siege`. Created once. */
function groundOf(): Promise<Known> {
  ground ??= fillGround(herald().url, { longMessages: 60, shortMessages: 120, since: 50 });
  return ground;
}

/** Starts attackers, who stop at the end of the block. Resolves once they have connected. */
async function attack(raid: string, known: Omit<Known, "victimKey">) {
  const attackers = startHelper<AttackerOrder, AttackerReport>("attacker.ts", { idle: true });
  attackers.tell({ raid, camp: { ...known, url: herald().url, run: raid } });
  const hasBegun = async () => {
    attackers.tell({ tell: true });
    return ((await attackers.next()).connections ?? 0) > 0 || undefined;
  };
  const handle = { [Symbol.asyncDispose]: attackers.stop };
  try {
    await eventually(hasBegun, `the attackers of ${raid} to connect`);
    return handle;
  } catch (error) {
    await attackers.stop();
    throw error;
  }
}

describe("somebody else's sends are answered 201 while attackers", () => {
  test.each(played)("play %s", async (raid) => {
    const { victimKey, ...known } = await groundOf();
    await using _attackers = await attack(raid, known);
    for (let count = 0; count < sends; count++) {
      const message = { cid: house.quiet, body: `${count}` };
      const request = { organizationId: victimOrg, senderId: house.sender, message };
      const answer = await callWith(herald(), victimKey, "POST", "/admin/message", request);
      expect(answer.status).toBe(201);
    }
  });
});
