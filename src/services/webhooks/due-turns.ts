import type { DueEvent, UnreachedReads } from "../../store/webhooks/ports.ts";

/** Chooses the due events that are settled next. */
export type DueTurns = {
  /** All that were due by then; if they are many, some of each organization, which take turns to be first. */
  next(dueBy: number): Promise<DueEvent[]>;
};

const atOnce = 2_000;
const orgsAtOnce = 20;

/** Creates the turns. */
export function createDueTurns(unreached: Pick<UnreachedReads, "due" | "dueOfEach">): DueTurns {
  let first = "";

  /** Those of the organizations after the one that was first, in a circle. */
  async function ofEach(dueBy: number): Promise<DueEvent[][]> {
    const page = { orgs: orgsAtOnce, each: atOnce / orgsAtOnce };
    const after = await unreached.dueOfEach(dueBy, { ...page, after: first });
    if (after.length === orgsAtOnce) return after;
    const again = await unreached.dueOfEach(dueBy, { ...page, after: "", orgs: orgsAtOnce - after.length });
    return [...after, ...again.filter(([one]) => one !== undefined && one.org <= first)];
  }

  return {
    async next(dueBy) {
      const all = await unreached.due(dueBy, atOnce);
      if (all.length < atOnce) return all;
      const lists = await ofEach(dueBy);
      first = lists[0]?.[0]?.org ?? "";
      const longest = Math.max(0, ...lists.map(({ length }) => length));
      return Array.from({ length: longest }, (_, index) => lists.flatMap((list) => list[index] ?? [])).flat();
    },
  };
}
