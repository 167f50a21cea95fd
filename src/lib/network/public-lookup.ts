import { lookup } from "node:dns";
import type { LookupFunction } from "node:net";
import { isPublicAddress } from "./addresses.ts";

/**
 * Creates the name lookup of a connection that may only lead to public addresses. The connection is made to the addresses that
 * were checked, so a name that resolves to another address a moment later (DNS rebinding) changes nothing.
 */
export function createPublicLookup(resolve: typeof lookup = lookup, isPublic = isPublicAddress): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, []);
      const foreign = addresses.find(({ address }) => !isPublic(address));
      if (foreign !== undefined)
        return callback(new Error(`${hostname} resolves to ${foreign.address}, which is not a public address`), []);
      callback(null, addresses);
    });
  };
}

/** Looks up names that must lead to public addresses. */
export const lookupPublic: LookupFunction = createPublicLookup();
