import { randomBytes } from "node:crypto";
import type { Clock } from "../../lib/time/clock.ts";
import type { BusSecrets } from "../../store/ports.ts";

const secretBytes = 32;

type Dependencies = {
  busSecrets: BusSecrets;
  clock: Clock;
  /** Receives the current secrets, oldest first. */
  take(secrets: string[]): void;
};

/**
 * Creates a function that reads the secrets shared by the nodes of a database, and creates the first one if there is
 * none. Called every few seconds, so that all nodes soon know of secrets an operator adds or removes.
 */
export function followBusSecrets({ busSecrets, clock, take }: Dependencies): () => Promise<void> {
  return async () => {
    const secrets = await busSecrets.list();
    if (secrets.length > 0) return take(secrets);
    await busSecrets.begin(randomBytes(secretBytes).toString("base64url"), clock.now());
    take(await busSecrets.list());
  };
}
