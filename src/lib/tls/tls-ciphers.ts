import { getCiphers } from "node:tls";

/**
 * The default TLS 1.2 cipher suites: forward secrecy (ECDHE) and authenticated encryption (AEAD) only, so no CBC. TLS
 * 1.3 has no others.
 */
export const defaultTlsCiphers = [
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES128-GCM-SHA256",
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-RSA-AES256-GCM-SHA384",
  "ECDHE-ECDSA-CHACHA20-POLY1305",
  "ECDHE-RSA-CHACHA20-POLY1305",
].join(":");

/** Whether the value is a colon-separated list of TLS 1.2 suites, by OpenSSL name, that the runtime supports. */
export function areTlsCiphers(value: string): boolean {
  const known = new Set(getCiphers().map((name) => name.toUpperCase()));
  return value.split(":").every((name) => known.has(name) && !/^(TLS_|PSK-|ECDHE-PSK-)/.test(name));
}
