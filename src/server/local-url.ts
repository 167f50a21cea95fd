import type { Config } from "../config.ts";
import { type ListenAddress, urlOf } from "../lib/network/addresses.ts";

/** The URL at which programs of this machine reach a server that listens on a configured address. */
export function localUrlOf({ HERALD_TLS_CERT: certificate }: Config, address: ListenAddress): string {
  return reachableUrl(urlOf(address, certificate !== undefined));
}

/** The address for reaching a server. Replaces the wildcard addresses `0.0.0.0` and `::`, and leaves others unchanged. */
export function reachableUrl(url: string): string {
  const { protocol, hostname, port } = new URL(url);
  const host = { "0.0.0.0": "127.0.0.1", "[::]": "[::1]" }[hostname] ?? hostname;
  return `${protocol}//${host}${port === "" ? "" : `:${port}`}`;
}
