import { HeraldApiError } from "../../../sdk/errors.ts";
import type { MessageReport } from "../../../sdk/types.ts";
import type { Scope } from "../../../src/contract/keys/scopes.ts";
import type { Hit, Kind } from "./match.ts";
import type { Typed } from "./typed.ts";

/** Where results of one kind come from. */
export type Source = {
  kind: Kind;
  scope: Scope;
  /** Whether it needs a selected organization. */
  isOfOrganization: boolean;
  /** Whether it is asked only if the others find nothing. */
  isLast?: boolean;
  find(typed: Typed, signal: AbortSignal): Promise<Hit[]>;
};

/** The most entries of a list that is read as a whole. */
export const mostKept = 1_000;

/** A message that was found, without its place. */
export function messageHit(id: string, { message: { body = "" } }: MessageReport) {
  return { kind: "message", id, title: body === "" ? id : body.slice(0, 80), rank: 0 } as const;
}

/** What a look for an id finds; `undefined` if there is nothing. */
export async function ifAny<Report>(looking: Promise<Report>): Promise<Report | undefined> {
  return await looking.catch((error: unknown) => {
    if (error instanceof HeraldApiError && error.status === 404) return undefined;
    throw error;
  });
}
