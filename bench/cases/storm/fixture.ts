import { SQL } from "bun";
import type { Checkout } from "../../harness/checkouts.ts";
import { openIdleClients, type Person } from "../../harness/clients/idle-clients.ts";
import { type HeraldPeer, startHerald } from "../../harness/herald.ts";
import { benchOrg } from "../../harness/organization.ts";
import { warmUp } from "../sends.ts";

/** A database of one checkout with all users in it. */
export type StormFixture = {
  /**
   * Starts a node, and lets a few clients connect and send, so that its code is compiled. `onLine` is called with each
   * line it writes.
   */
  startNode(onLine: (line: string) => void): Promise<HeraldPeer>;
};

/** The organization of the caller who has nothing to do with the clients. */
export const victimOrg = "victim";

const hall = "hall";
const warmUpMs = 2_000;
const few = 500;

/** The users that Herald knows in advance. */
export function peopleOf(size: number): Person[] {
  return Array.from({ length: size }, (_, index) => ({ org: benchOrg.id, uid: `known-${index}` }));
}

/** Fills the database of this checkout: SQLite in the folder, or the one at `databaseUrl`. */
export async function openFixture(
  folder: string,
  { root }: Checkout,
  databaseUrl: string | undefined,
  size: number,
): Promise<StormFixture> {
  const settings: Record<string, string> = databaseUrl === undefined ? {} : { HERALD_DATABASE_URL: databaseUrl };
  const people = peopleOf(size);
  const first = await startHerald(folder, settings, { root });
  await first.putConversation(benchOrg.quiet, []);
  await first.putConversation(benchOrg.quiet, [], victimOrg);
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
      const clients = await openIdleClients(node, people.slice(0, few), "socket");
      await clients.close();
      return node;
    },
  };
}
