import { organizationLimitsOf } from "../config.ts";
import { createRateLimit } from "../services/limits/charges.ts";
import { createOrganizationLimits } from "../services/limits/organization-limits.ts";
import { createOrganizationUse } from "../services/limits/organization-use.ts";
import { createRefusals } from "../services/limits/refusals.ts";
import type { Context } from "./context.ts";
import type { Store } from "./store.ts";

const defaultBurstSeconds = 2;
const stopMayTakeMs = 1_000;

/** The limits of a node. */
export type Limits = ReturnType<typeof startLimits>;

/** Starts the limits of keys, of organizations, whose own ones it polls from the store, and of refused calls. */
export function startLimits({ config, steadyClock: clock, onError, onStop }: Context, store: Store) {
  const { HERALD_LIMIT_REQUESTS_PER_SECOND: perSecond, HERALD_LIMIT_REQUESTS_BURST: burst } = config;
  const refusals = createRefusals({
    perSecond: config.HERALD_LIMIT_REFUSALS_PER_SECOND,
    burst: config.HERALD_LIMIT_REFUSALS_BURST,
    clock,
  });
  const defaults = organizationLimitsOf(config);
  const organizationLimits = createOrganizationLimits({ ...store, defaults, elapsed: clock, onError });
  onStop(organizationLimits.stop, stopMayTakeMs);
  const burstSeconds = burst / perSecond; // organizations may burst for as many seconds as keys
  const use = createOrganizationUse({
    ...store,
    limits: organizationLimits,
    burstSeconds: Number.isFinite(burstSeconds) && burstSeconds > 0 ? burstSeconds : defaultBurstSeconds,
    clock,
  });
  return { organizationLimits, use, refusals, rateLimit: createRateLimit({ perSecond, burst, clock }) };
}
