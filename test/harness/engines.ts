import { afterAll } from "bun:test";
import { type Nats, startNats } from "./engines/nats.ts";
import { type Postgres, startPostgres } from "./engines/postgres.ts";

/**
 * Starts PostgreSQL and NATS for a test file, and stops them at its end; `undefined` if one of them is not installed,
 * which is a failure under CI.
 */
export async function useEngines(): Promise<{ postgres: Postgres; nats: Nats } | undefined> {
  const postgres = await startPostgres();
  const nats = await startNats();
  if (postgres === undefined || nats === undefined) return undefined;
  afterAll(async () => {
    await nats.stop();
    postgres.stop();
  });
  return { postgres, nats };
}
