import { lookup } from "node:dns";
import { type IncomingMessage, type RequestOptions, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
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

const lookupPublic = createPublicLookup();

type PublicRequest = RequestOptions & { body?: Buffer; allowsPrivate: boolean };

/**
 * Sends a request, unless `allowsPrivate` only to a public address, and follows no redirects. Resolves once the headers of the
 * answer are there.
 */
export function requestPublic(url: URL, { body, allowsPrivate, ...options }: PublicRequest): Promise<IncomingMessage> {
  const request = url.protocol === "https:" ? requestHttps : requestHttp;
  const lookup = allowsPrivate ? {} : { lookup: lookupPublic };
  return new Promise((resolve, reject) => {
    // No agent: a reused connection would skip the check of its address.
    request(url, { ...lookup, ...options, agent: false }, resolve)
      .on("error", reject)
      .end(body);
  });
}
