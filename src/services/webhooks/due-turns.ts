import type { DueEvent, UnreachedReads } from "../../store/webhooks/ports.ts";

const atOnce = 2_000;
const orgsAtOnce = 20;

/**
 * Creates the function that chooses the due events to settle next: all that were due by then or, if there are many, some of each
 * organization, starting with a different one each time.
 */
export function createDueTurns(unreached: Pick<UnreachedReads, "due" | "dueOfEach">) {
  let first = "";

  /** Events of each organization, round-robin from the one after `first`. */
  async function ofEach(dueBy: number): Promise<DueEvent[][]> {
    const page = { orgs: orgsAtOnce, each: atOnce / orgsAtOnce };
    const after = await unreached.dueOfEach(dueBy, { ...page, after: first });
    if (after.length === orgsAtOnce) return after;
    const again = await unreached.dueOfEach(dueBy, { ...page, after: "", orgs: orgsAtOnce - after.length });
    return [...after, ...again.filter(([one]) => one !== undefined && one.org <= first)];
  }

  return async (dueBy: number): Promise<DueEvent[]> => {
    const all = await unreached.due(dueBy, atOnce);
    if (all.length < atOnce) return all;
    const lists = await ofEach(dueBy);
    first = lists[0]?.[0]?.org ?? "";
    const longest = Math.max(0, ...lists.map(({ length }) => length));
    return Array.from({ length: longest }, (_, index) => lists.flatMap((list) => list[index] ?? [])).flat();
  };
}
