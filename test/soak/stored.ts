import { SQL } from "bun";
import type { Organization } from "../harness/servers/organization.ts";
import type { StoredMessage } from "./judge.ts";

/** Reads the messages of an organization: their order from the database by SQL, bypassing Herald, and their texts from lists. */
export async function readStored(url: string, org: Organization, rooms: Iterable<string>): Promise<StoredMessage[]> {
  const texts = new Map<string, string>();
  for (const cid of rooms) for (const { _id, body } of await org.history(cid)) texts.set(_id, body);
  const sql = new SQL(url, { max: 1 });
  try {
    await sql`SELECT set_config('herald.orgs', ${JSON.stringify([org.id])}, false)`; // otherwise row-level security shows nothing
    const rows = await sql<
      { id: string; cid: string }[]
    >`SELECT id, cid FROM event WHERE org = ${org.id} AND kind = 'message' ORDER BY "offset"`;
    return rows.map(({ id, cid }) => ({ id, cid, text: texts.get(id) }));
  } finally {
    await sql.close();
  }
}
