import type { Logger } from "pino";
import { type Config, internalAddressOf, publicAddressOf } from "../config.ts";
import { isLoopbackHost } from "../lib/network/addresses.ts";

const advice =
  "Herald serves plain HTTP on an address that other machines can reach, so anyone on the network path can read keys and tokens; set HERALD_TLS_CERT and HERALD_TLS_KEY, or terminate TLS at a proxy and add it to HERALD_TRUSTED_PROXIES, or listen on 127.0.0.1 (see docs/how-to/configure.md)";

/** The warning for keys and tokens sent in the clear; `undefined` with TLS, behind a proxy, and on loopback. */
export function plainHttpAdvice(config: Config): string | undefined {
  const { HERALD_TLS_CERT: cert, HERALD_TRUSTED_PROXIES: proxies } = config;
  if (cert !== undefined || proxies.length > 0) return undefined;
  const { hostname } = publicAddressOf(config);
  const isOpen = [hostname, internalAddressOf(config)?.hostname ?? hostname].some((host) => !isLoopbackHost(host));
  return isOpen ? advice : undefined;
}

/** Logs that warning, if it applies. */
export function warnOfPlainHttp(config: Config, log: Logger): void {
  const advice = plainHttpAdvice(config);
  if (advice !== undefined) log.warn(advice);
}
