import type { Logger } from "pino";
import { type Config, organizationLimitsOf } from "../config.ts";
import { createAddressSet } from "../lib/network/addresses.ts";
import { type ClientAddress, createClientAddress } from "../lib/network/client-address.ts";
import type { Clock } from "../lib/time/clock.ts";
import { createRateLimit } from "../services/limits/key-rates.ts";
import { createOrganizationLimits } from "../services/limits/organization-limits.ts";
import { createOrganizationUse } from "../services/limits/organization-use.ts";
import type { createStore } from "../store/store.ts";

const defaultBurstSeconds = 2;
const undeclaredProxyAdvice =
  "a request with X-Forwarded-For came from an address that is not a trusted proxy; if this is your proxy, add it to HERALD_TRUSTED_PROXIES, because until then all clients behind it count as one; otherwise the header is forged, and Herald ignores it (see docs/how-to/run-as-a-service.md)";

type Dependencies = {
  config: Config;
  store: ReturnType<typeof createStore>;
  /** A clock that never goes back. */
  steadyClock: Clock;
  onError(error: unknown): void;
};

/** Starts the limits of keys and organizations. `organizationLimits` polls the store until it is stopped. */
export function startLimits({ config, store, steadyClock, onError }: Dependencies) {
  const { HERALD_LIMIT_REQUESTS_PER_SECOND: perSecond, HERALD_LIMIT_REQUESTS_BURST: burst } = config;
  const organizationLimits = createOrganizationLimits({
    ...store,
    defaults: organizationLimitsOf(config),
    elapsed: steadyClock,
    onError,
  });
  const burstSeconds = burst / perSecond; // organizations may burst for as many seconds as keys
  const use = createOrganizationUse({
    ...store,
    limits: organizationLimits,
    burstSeconds: Number.isFinite(burstSeconds) && burstSeconds > 0 ? burstSeconds : defaultBurstSeconds,
    clock: steadyClock,
  });
  return { organizationLimits, use, rateLimit: createRateLimit({ perSecond, burst, clock: steadyClock }) };
}

/** Creates the reader of client addresses, which warns once of a proxy missing from the settings. */
export function createAddressReader(config: Config, log: Logger): ClientAddress {
  return createClientAddress(createAddressSet(config.HERALD_TRUSTED_PROXIES), (address) =>
    log.warn({ address }, undeclaredProxyAdvice),
  );
}
