import type { RoleTable } from "../../contract/people/roles.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { Refusals } from "../limits/refusals.ts";
import type { ProviderKeys } from "../sessions/provider-keys.ts";
import type { Issuer } from "./issuer.ts";
import type { PersonSessions } from "./person-sessions.ts";
import { createSignIn } from "./sign-in.ts";
import { createWorkloadTokens } from "./workload-tokens.ts";

/** Those whom the OpenID provider vouches for. */
export type People = ReturnType<typeof createPeople>;

type Options = {
  issuer: Issuer;
  /** The provider's keys. */
  keys: ProviderKeys;
  roles: RoleTable;
  sessions: PersonSessions;
  /** The server's secret, the same on every node. */
  secret: string;
  refusals: Refusals;
  clock: Clock;
  /** Called with the reason of each sign-in that fails, and not by the person's making, or perhaps not. */
  onFailure(reason: string): void;
};

/** Creates what identifies people and workloads. */
export function createPeople(options: Options) {
  return {
    workloadTokens: createWorkloadTokens(options),
    signIn: createSignIn(options),
    sessions: options.sessions,
  };
}
