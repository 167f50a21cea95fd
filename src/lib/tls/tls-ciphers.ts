import { getCiphers } from "node:tls";

/**
 * The suites of TLS 1.2 that a server offers unless told otherwise: forward secrecy (ECDHE) and authenticated encryption (AEAD), so
 * no CBC. TLS 1.3 has none but such.
 */
export const defaultTlsCiphers = [
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES128-GCM-SHA256",
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-RSA-AES256-GCM-SHA384",
  "ECDHE-ECDSA-CHACHA20-POLY1305",
  "ECDHE-RSA-CHACHA20-POLY1305",
].join(":");

/** Whether these are suites of TLS 1.2 that the runtime has, by their names in OpenSSL, with colons between them. */
export function areTlsCiphers(value: string): boolean {
  const known = new Set(getCiphers().map((name) => name.toUpperCase()));
  return value.split(":").every((name) => known.has(name) && !/^(TLS_|PSK-|ECDHE-PSK-)/.test(name));
}
