import { randomBytes } from "node:crypto";
import type { Clock } from "../../lib/time/clock.ts";
import type { BusSecrets } from "../../store/ports.ts";

const secretBytes = 32;

type Dependencies = {
  busSecrets: BusSecrets;
  clock: Clock;
  /** Takes the secrets as they are now, the oldest first. */
  take(secrets: string[]): void;
};

/**
 * Follows the secrets that the nodes of a database sign with, and makes the first one where there is none. The function that it
 * gives is called every few seconds, so that a secret which an operator adds or removes is soon known to all nodes.
 */
export function followBusSecrets({ busSecrets, clock, take }: Dependencies): () => Promise<void> {
  return async () => {
    const secrets = await busSecrets.list();
    if (secrets.length > 0) return take(secrets);
    await busSecrets.begin(randomBytes(secretBytes).toString("base64url"), clock.now());
    take(await busSecrets.list());
  };
}
