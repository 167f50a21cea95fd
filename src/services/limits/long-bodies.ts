import { unavailable } from "../../contract/errors/errors.ts";
import { networkOf } from "../../lib/network/addresses.ts";
import { createTokenBuckets } from "../../lib/rates/token-buckets.ts";
import type { SteadyClock } from "../../lib/time/clock.ts";

// While the store is asked, Bun takes one or two megabytes of such a body, which costs as much as ten sends.
const rate = { burst: 16, perSecond: 50 };

/** Creates the limit of calls with a long body for which the store is asked who calls: a burst of 16 from an address (IPv6: a /64), and 50 per second. */
export function createLongBodies({ clock }: { clock: SteadyClock }) {
  const buckets = createTokenBuckets({ clock });
  return {
    /** Throws `unavailable` beyond the limit. */
    admit(address: string): void {
      const network = networkOf(address);
      if (buckets.waitMs(network, rate) > 0) {
        throw unavailable({
          detail:
            "too many calls from this address have a long body and a key that this node does not know yet; try again",
        });
      }
      buckets.charge(network, rate, 1);
    },
  };
}
