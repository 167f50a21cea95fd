import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { AdminClient } from "../../sdk/admin/admin.ts";
import type { OwnApiKey } from "../../sdk/types.ts";
import type { Scope } from "../../src/contract/keys/scopes.ts";
import type { NodeHistory } from "./node-history.ts";
import type { Place } from "./places.ts";
import type { Route } from "./route.ts";
import type { ReadLog } from "./story/log-pages.ts";

/** What all pages share. */
export type Console = {
  client: AdminClient;
  readLog: ReadLog;
  me: OwnApiKey;
  /** The current organization; `undefined` if there is none. */
  org: string | undefined;
  route: Route;
  /** What is remembered of the current page, which is empty unless the reader has come back to it. */
  place: Place;
  history: NodeHistory;
  /** When the server answered last, in milliseconds since the Unix epoch, if it does not answer now: what is shown is as old, or older. */
  asOf: number | undefined;
  /** How often the server has answered again after a time without answers: what has failed then is read again. */
  comebacks: number;
  can(scope: Scope): boolean;
  /** Reads the organizations to choose from again. Call this after a change of one. */
  reloadOrganizations(): void;
  /** The address of a page in the current organization. */
  link(page: string, id?: string, query?: Record<string, string | undefined>): string;
  /** Announces a text to screen readers. */
  announce(text: string): void;
  /** Call this with any error of an API call: a refused key ends the session. */
  noteFailure(error: unknown): void;
};

/** The app provides this to all components. */
export const ConsoleContext = createContext<Console | undefined>(undefined);

/** What all pages share. Only for components inside the app. */
export function useConsole(): Console {
  const value = useContext(ConsoleContext);
  if (value === undefined) throw new Error("useConsole is for what stands below the app");
  return value;
}

/** The current organization, for pages that require one. */
export function useOrganization(): string {
  const { org } = useConsole();
  if (org === undefined) throw new Error("useOrganization is for pages of an organization");
  return org;
}
