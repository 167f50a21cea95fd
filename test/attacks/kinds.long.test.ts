import { describe, expect, test } from "bun:test";
import { fillFixture, type Known, victimOrg } from "../../bench/attacks/fixture.ts";
import { startHelper } from "../../bench/harness/helper.ts";
import { tokenSecret } from "../../bench/harness/herald.ts";
import { benchOrg } from "../../bench/harness/organization.ts";
import type { AttackerOrder, AttackerReport } from "../../bench/processes/attacker.ts";
import { eventually } from "../harness/deadline.ts";
import { useHerald } from "../harness/servers/herald.ts";
import { callWith } from "../harness/servers/keys.ts";

const herald = useHerald({
  oneNode: "what is attacked is a node",
  key: benchOrg.key,
  env: { HERALD_TOKEN_SECRET: tokenSecret },
});

/** One of each row, and the worst of their siblings; `npm run attacks` runs all. */
const chosen = [
  "metrics",
  "bad-tokens",
  "pongs",
  "lists",
  "unread-lists",
  "filtered-feeds",
  "directory",
  "many-keys",
  "imports",
  "refused-imports",
  "exports",
  "batches",
];
const sends = 5;
let fixture: Promise<Known> | undefined;

/** What attacks need, smaller than for `npm run attacks`. Created once. */
function fixtureOf(): Promise<Known> {
  fixture ??= fillFixture(herald().url, { longMessages: 60, shortMessages: 120, since: 50 });
  return fixture;
}

/** Starts attackers, who stop at the end of the block. Resolves once they have connected. */
async function start(name: string, known: Omit<Known, "victimKey">) {
  const attackers = startHelper<AttackerOrder, AttackerReport>("attacker.ts", { idle: true });
  attackers.tell({ attack: name, target: { ...known, url: herald().url, run: name } });
  const hasBegun = async () => {
    attackers.tell({ tell: true });
    return ((await attackers.next()).connections ?? 0) > 0 || undefined;
  };
  const handle = { [Symbol.asyncDispose]: attackers.stop };
  try {
    await eventually(hasBegun, `the attackers of ${name} to connect`);
    return handle;
  } catch (error) {
    await attackers.stop();
    throw error;
  }
}

describe("somebody else's sends are answered 201 while attackers", () => {
  test.each(chosen)("run %s", async (attack) => {
    const { victimKey, ...known } = await fixtureOf();
    await using _attackers = await start(attack, known);
    for (let count = 0; count < sends; count++) {
      const message = { cid: benchOrg.quiet, body: `${count}` };
      const request = { organizationId: victimOrg, senderId: benchOrg.sender, message };
      const answer = await callWith(herald(), victimKey, "POST", "/admin/message", request);
      expect(answer.status).toBe(201);
    }
  });
});
