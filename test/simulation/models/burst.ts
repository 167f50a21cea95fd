import type { Random } from "../../harness/random.ts";
import type { Climate } from "../climate.ts";
import type { Node } from "./node.ts";
import { pause } from "./time.ts";

/** What bursts share with everyone else in the world. */
export type Bursts = { random: Random; climate: Climate; orgs: string[]; pickNode(): Node | undefined };

/**
 * Some organizations have a lot of work for the thread of a node, like requests or an export: all pieces ask for their turn
 * at once, or each after the one before.
 */
export async function runBurst({ random, climate, orgs, pickNode }: Bursts): Promise<void> {
  await pause(random.integer(1, climate.activeMs));
  const node = pickNode();
  if (node === undefined) return;

  async function work(org: string): Promise<void> {
    const isOneByOne = random.next() < 0.5;
    const cost = random.pick([25, 250, 1_000]);
    for (let pieces = random.integer(5, 30); pieces > 0; pieces--) {
      const turn = node?.thread.turn(org, cost, { part: "burst" });
      if (isOneByOne) await turn;
    }
  }

  await Promise.all(Array.from({ length: random.integer(1, 3) }, () => work(random.pick(orgs))));
}
