import { SQL } from "bun";
import type { Checkout } from "../../harness/checkouts.ts";
import { openCrowd, type Person } from "../../harness/crowds/crowd.ts";
import { type HeraldPeer, startHerald } from "../../harness/herald.ts";
import { house } from "../../harness/house.ts";
import { warmUp } from "../sends.ts";

/** A database of one checkout with all users in it. */
export type StormGround = {
  /**
   * Starts a node, and lets a few clients connect and send, so that its code is compiled. `onLine` is called with each
   * line it writes.
   */
  startNode(onLine: (line: string) => void): Promise<HeraldPeer>;
};

/** The organization of the caller who has nothing to do with the crowd. */
export const victimOrg = "victim";

const hall = "hall";
const warmUpMs = 2_000;
const few = 500;

/** The users that Herald knows in advance. */
export function peopleOf(size: number): Person[] {
  return Array.from({ length: size }, (_, index) => ({ org: house.org, uid: `known-${index}` }));
}

/** Fills the database of this checkout: SQLite in the folder, or the one at `databaseUrl`. */
export async function openGround(
  folder: string,
  { root }: Checkout,
  databaseUrl: string | undefined,
  size: number,
): Promise<StormGround> {
  const settings: Record<string, string> = databaseUrl === undefined ? {} : { HERALD_DATABASE_URL: databaseUrl };
  const people = peopleOf(size);
  const first = await startHerald(folder, settings, { root });
  await first.putConversation(house.quiet, []);
  await first.putConversation(house.quiet, [], victimOrg);
  await first.putConversation(
    hall,
    people.map(({ uid }) => uid),
  );
  if (databaseUrl !== undefined) {
    await using database = new SQL(databaseUrl, { max: 1 });
    await database`ANALYZE`; // PostgreSQL does so itself within a database's first minute
  }
  await first.stop();
  return {
    async startNode(onLine) {
      const node = await startHerald(folder, settings, { root, onLine });
      await warmUp(node, warmUpMs);
      const crowd = await openCrowd(node, people.slice(0, few), "socket");
      await crowd.close();
      return node;
    },
  };
}
