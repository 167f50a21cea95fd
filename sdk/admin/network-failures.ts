import { networkCode } from "../network-code.ts";
import { environmentProxyFor } from "./environment.ts";
import type { Fetch } from "./fetch.ts";

/** Why a call got no response, where it got lost, what to do, and whether to try it again is in vain. */
export type NetworkFailure = { why: string; where: string; advice?: string | undefined; isFinal?: boolean };

/** What a network error means, by the system's code. */
export const networkMeanings: { [code: string]: string } = {
  ECONNREFUSED: "connection refused",
  ENOTFOUND: "unknown host name",
  EAI_AGAIN: "the host name cannot be looked up now",
  EHOSTUNREACH: "no route to the host",
  ENETUNREACH: "no route to the host",
  ETIMEDOUT: "timed out",
  EPROTO: "the TLS handshake failed",
  ERR_SSL_WRONG_VERSION_NUMBER: "the TLS handshake failed",
  ECONNRESET: "the connection was closed before the response was complete",
  UND_ERR_SOCKET: "the connection was closed before the response was complete",
  Malformed_HTTP_Response: "what answers there does not speak HTTP",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "its certificate is self-signed",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its certificate is not signed by a known authority",
  UNABLE_TO_GET_ISSUER_CERT: "its certificate is not signed by a known authority",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "its certificate is not signed by a known authority",
  CERT_HAS_EXPIRED: "its certificate has expired",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another host name",
};

const failedHandshakes = ["EPROTO", "ERR_SSL_WRONG_VERSION_NUMBER"];
const brokenConnections = ["ECONNRESET", "UND_ERR_SOCKET", "EPIPE"];
const isCertificate = (code: string) => /CERT/.test(code) || code === "UNABLE_TO_VERIFY_LEAF_SIGNATURE";
const probeMs = 2_000;

/** Explains why a call to `url` failed: with `cause`, the error of `fetch`. Finds out whether the address has the wrong scheme. */
export async function explainFailure(
  url: string,
  cause: unknown,
  timeoutMs: number,
  fetch: Fetch,
): Promise<NetworkFailure> {
  const { origin, host } = new URL(url);
  const proxy = environmentProxyFor(url);
  const where = proxy === undefined ? origin : `${origin} through the proxy ${proxy.host} (from ${proxy.variable})`;
  const advice = proxy && `Check the proxy, or name ${host} in NO_PROXY to do without it.`;
  const why = nameCause(cause, timeoutMs);
  const code = networkCode(cause) ?? "";
  if (proxy !== undefined) return { why, where, advice };
  if (isCertificate(code))
    return { why, where, advice: "Fix the server's certificate, or let this program trust it.", isFinal: true };
  const isPlain = origin.startsWith("http:");
  const other = `${isPlain ? "https" : "http"}://${host}`;
  const isSuspect = (isPlain ? brokenConnections : failedHandshakes).includes(code);
  if (!isSuspect || !(await speaks(other, fetch))) return { why, where };
  const [right, wrong] = isPlain ? ["HTTPS", "plain HTTP"] : ["plain HTTP", "HTTPS"];
  return {
    why: `the server speaks ${right} on this port, not ${wrong} (${code})`,
    where,
    advice: `Use ${other} instead.`,
    isFinal: true,
  };
}

function nameCause(error: unknown, timeoutMs: number): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return `timed out after ${Math.round(timeoutMs / 100) / 10} s`;
  const code = networkCode(error);
  if (code === undefined) return error.message;
  const meaning = networkMeanings[code];
  return meaning === undefined ? code : `${meaning} (${code})`;
}

/** Whether a server speaks the scheme of this address, whatever its certificate. The request has no key. */
async function speaks(origin: string, fetch: Fetch): Promise<boolean> {
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(), probeMs);
  try {
    await fetch(origin, { method: "HEAD", redirect: "manual", signal: over.signal });
    return true;
  } catch (error) {
    return isCertificate(networkCode(error) ?? "");
  } finally {
    clearTimeout(timer);
  }
}
