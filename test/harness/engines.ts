import { afterAll } from "bun:test";
import { type Nats, startNats } from "./engines/nats.ts";
import { type Postgres, startPostgres } from "./engines/postgres.ts";

/** The PostgreSQL and NATS of a file of tests, which end with it; `undefined` where one of them is not installed, which is a failure under CI. */
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
