import * as openid from "openid-client";
import { unavailable } from "../../contract/errors/errors.ts";
import { type OutageEvents, tellOutages } from "../../lib/observing/outages.ts";
import type { SteadyClock } from "../../lib/time/clock.ts";

/** The OpenID provider at which people sign in. */
export type Issuer = ReturnType<typeof createIssuer>;

type Options = OutageEvents & {
  url: string;
  clientId: string;
  /** Absent for a public client. */
  clientSecret: string | undefined;
  clock: SteadyClock;
};

const lifetimeMs = 3600_000;
const cooldownMs = 5_000;
const mayTakeSeconds = 5;

/**
 * Creates the provider. Its description (OpenID Connect Discovery 1.0) is fetched when it is first needed, so that the provider can be
 * away at the start, and again after an hour; a known one stays in use while the provider is away.
 */
export function createIssuer({ url, clientId, clientSecret, clock, ...outages }: Options) {
  let known: { configuration: openid.Configuration; at: number } | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | undefined;

  async function discover(): Promise<void> {
    const { protocol } = new URL(url);
    const configuration = await openid.discovery(
      new URL(url),
      clientId,
      {},
      (server, ...rest) => authenticationBy(server, clientSecret)(server, ...rest),
      {
        timeout: mayTakeSeconds,
        // The settings allow http only for private addresses.
        execute: [openid.enableNonRepudiationChecks, ...(protocol === "http:" ? [openid.allowInsecureRequests] : [])],
      },
    );
    known = { configuration, at: clock.now() };
  }

  const discoverWatched = tellOutages(discover, outages);

  return {
    url,
    clientId,
    /** The provider's description, ready for use. Throws `unavailable` while it cannot be fetched. */
    async configuration(): Promise<openid.Configuration> {
      const now = clock.now();
      const isOld = known === undefined || now - known.at >= lifetimeMs;
      if (isOld && asking === undefined && now - askedAt >= cooldownMs) {
        askedAt = now;
        asking = discoverWatched().finally(() => {
          asking = undefined;
        });
      }
      if (known === undefined) await asking;
      if (known !== undefined) return known.configuration;
      throw unavailable({
        detail: "the OpenID provider cannot be reached right now; try again",
        retryAfterSeconds: cooldownMs / 1000,
      });
    },
  };
}

/** The provider says how clients prove who they are; if it does not, by HTTP Basic (OpenID Connect Discovery 1.0, section 3). */
function authenticationBy(
  { token_endpoint_auth_methods_supported: methods = ["client_secret_basic"] }: openid.ServerMetadata,
  secret: string | undefined,
): openid.ClientAuth {
  if (secret === undefined) return openid.None();
  return methods.includes("client_secret_basic") ? openid.ClientSecretBasic(secret) : openid.ClientSecretPost(secret);
}
