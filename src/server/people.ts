import { fetchDocument } from "../lib/network/fetch-document.ts";
import { createSparing } from "../lib/observing/sparing.ts";
import type { People } from "../services/people/people.ts";
import { createPersonSessions, type PersonSessions } from "../services/people/person-sessions.ts";
import { createProviderKeys, keySetLimits } from "../services/sessions/provider-keys.ts";
import type { Context } from "./context.ts";
import type { Limits } from "./limits.ts";
import type { Secrets } from "./secrets.ts";
import type { Store } from "./store.ts";

type Dependencies = Pick<Limits, "refusals"> & Pick<Secrets, "keySecret"> & { store: Store };

/** Opens the sessions of people, and what identifies those whom the OpenID provider of the settings vouches for, if there is one. */
export async function openPeople(context: Context, { refusals, keySecret: secret, store }: Dependencies) {
  const { clock, steadyClock: elapsed, onError } = context;
  const sessions = createPersonSessions({ ...store, secret, refusals, clock, elapsed, onError });
  return { personSessions: sessions, people: await openProvider(context, { refusals, secret, sessions }) };
}

type ProviderParts = Pick<Limits, "refusals"> & { secret: string; sessions: PersonSessions };

async function openProvider(context: Context, parts: ProviderParts): Promise<People | undefined> {
  const { config, clock, steadyClock, dependencies, log } = context;
  const {
    HERALD_ADMIN_OIDC_ISSUER: url,
    HERALD_ADMIN_OIDC_CLIENT_ID: clientId,
    HERALD_ADMIN_OIDC_CLIENT_SECRET: clientSecret,
    HERALD_ADMIN_OIDC_ROLES: roles,
  } = config;
  if (url === undefined || clientId === undefined || roles === undefined) return undefined;
  // 16 ms of a start, for those who use it
  const { createIssuer } = await import("../services/people/issuer.ts");
  const { createPeople } = await import("../services/people/people.ts");
  const issuer = createIssuer({ url, clientId, clientSecret, clock: steadyClock, ...dependencies.signIn });
  const keys = createProviderKeys({
    async fetchKeySet() {
      const { jwks_uri: keySet } = (await issuer.configuration()).serverMetadata();
      if (keySet === undefined) throw new Error("the OpenID provider names no `jwks_uri`");
      return await fetchDocument(new URL(keySet), { ...keySetLimits, allowsPrivate: true }); // the operator has named the issuer
    },
    clock,
    ...dependencies.signIn,
  });
  const tellFailed = createSparing({
    tell: (facts, before) => log.warn({ ...facts, before }, "a sign-in at the OpenID provider failed"),
    clock: steadyClock,
  });
  const onFailure = (reason: string) => tellFailed(reason, { reason });
  return createPeople({ ...parts, issuer, keys, roles, clock, onFailure });
}
