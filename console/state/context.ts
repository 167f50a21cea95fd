import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { AdminClient } from "../../sdk/admin/admin.ts";
import type { OwnApiKey } from "../../sdk/types.ts";
import type { Scope } from "../../src/contract/keys/scopes.ts";
import type { NodeHistory } from "./node-history.ts";
import type { Route } from "./route.ts";

/** What every page works with. */
export type Console = {
  client: AdminClient;
  me: OwnApiKey;
  /** The organization that is looked at; `undefined` while there is none. */
  org: string | undefined;
  route: Route;
  history: NodeHistory;
  can(scope: Scope): boolean;
  /** The address of a page in the organization that is looked at. */
  link(page: string, id?: string, query?: Record<string, string | undefined>): string;
  /** Says something to those who do not see the screen. */
  announce(text: string): void;
  /** To be called with what a call of the API threw: a key that is refused ends the session. */
  noteFailure(error: unknown): void;
};

/** Given by the app to all below it. */
export const ConsoleContext = createContext<Console | undefined>(undefined);

/** What every page works with; only below the app. */
export function useConsole(): Console {
  const value = useContext(ConsoleContext);
  if (value === undefined) throw new Error("useConsole is for what stands below the app");
  return value;
}

/** The organization, for pages that are shown only when there is one. */
export function useOrganization(): string {
  const { org } = useConsole();
  if (org === undefined) throw new Error("useOrganization is for pages of an organization");
  return org;
}
