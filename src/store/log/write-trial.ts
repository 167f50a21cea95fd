import { randomBytes, randomInt } from "node:crypto";
import { createId } from "../../lib/text/ids.ts";
import type { Driver } from "../sql/driver.ts";

const noOrganization = "";
const mostOffsets = 2 ** 47; // so that trials of several nodes do not wait for each other
const takenBack = new Error("the trial is over");

/**
 * Creates the trial that finds out whether the database accepts what a send writes. A shared database is asked to insert an event of no organization, in the turn of sends, and takes it back; the
 * embedded one, which writes at the commit only, commits a row as it is.
 */
export function createWriteTrial({ driver }: { driver: Driver }) {
  async function insert(bytes: number): Promise<void> {
    const event = {
      org: noOrganization,
      offset: -1 - randomInt(mostOffsets),
      kind: "message",
      id: createId(),
      payload: randomBytes(bytes).toString("base64"),
      created_at: 0,
    };
    try {
      await driver.transaction(async ({ rows, limitTo }) => {
        await limitTo([noOrganization]);
        await rows.lock("organization", ["id"], [{ id: noOrganization }]);
        await rows.insert("event", [event]);
        throw takenBack;
      }, "batch");
    } catch (error) {
      if (error !== takenBack) throw error;
    }
  }

  return {
    /** Writes like a send with a payload of so many bytes, and keeps nothing. Rejects as a send would. */
    async run(bytes: number): Promise<void> {
      if (driver.dialect.isShared) await insert(bytes);
      else await driver.transaction((sql) => sql.run("UPDATE schema_version SET version = version"), "batch");
    },
  };
}
