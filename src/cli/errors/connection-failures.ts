import { connect } from "node:tls";
import { type EnvironmentProxy, environmentProxyFor } from "../../../sdk/admin/environment.ts";
import { networkMeanings } from "../../../sdk/admin/network-failures.ts";
import { networkCode } from "../../../sdk/network-code.ts";
import { isOnThisMachine, type Target } from "../access/target.ts";
import { printableLine } from "../output/printable.ts";

const probeMs = 2_000;
const checkNetwork = "Check this machine's network, and any firewall or VPN in between.";
const trustCertificate =
  "If you trust it, set NODE_EXTRA_CA_CERTS to a file with the certificate, or with that of its authority (PEM).";

/** What to do about a network error, by the system's code. */
const nextSteps: Record<string, (target: Target) => string> = {
  ECONNREFUSED: startServer,
  ENOTFOUND: ({ urlFrom }) => `Check the host name (from ${urlFrom}).`,
  EAI_AGAIN: () => checkNetwork,
  EHOSTUNREACH: () => checkNetwork,
  ENETUNREACH: () => checkNetwork,
  ETIMEDOUT: () => checkNetwork,
  ECONNRESET: () =>
    "The server may have stopped, or a proxy closed the connection. Look at the server's log, then try again.",
  DEPTH_ZERO_SELF_SIGNED_CERT: () => trustCertificate,
  SELF_SIGNED_CERT_IN_CHAIN: () => trustCertificate,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: () => trustCertificate,
  UNABLE_TO_GET_ISSUER_CERT: () => trustCertificate,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: () => trustCertificate,
  CERT_HAS_EXPIRED: () => "Renew the server's certificate.",
  ERR_TLS_CERT_ALTNAME_INVALID: () => "Use a host name that the certificate contains.",
};

/** Explains a call that got no response: the cause, then what to do. `cause` is the error of the network. */
export async function explainNoResponse(cause: unknown, fallback: string, target: Target): Promise<string> {
  const proxy = environmentProxyFor(target.url);
  if (proxy !== undefined)
    return `no response from ${target.url} through ${nameProxy(proxy)}: ${nameCause(cause, fallback)}\n${adviseOnProxy(target)}`;
  const { why, next } = (await readScheme(cause, target)) ?? {
    why: nameCause(cause, fallback),
    next: nextStep(cause, target),
  };
  return `no response from ${target.url}: ${why}\n${next}`;
}

/** The proxy that a call takes, and where its address comes from. */
export const nameProxy = ({ host, variable }: EnvironmentProxy): string =>
  printableLine(`the proxy ${host} (from ${variable})`);

/** What to do about a proxy that does not lead to the server. */
export const adviseOnProxy = ({ url }: Target): string =>
  `Check the proxy, or name ${new URL(url).host} in NO_PROXY to do without it.`;

/** The cause of a missing response in a few words, such as `connection refused (ECONNREFUSED)`. `fallback` is for errors without a code. */
export function nameCause(cause: unknown, fallback: string): string {
  const code = networkCode(cause);
  if (code === undefined)
    return printableLine(fallback.replace(/^No response from \S+(?: through the proxy \S+ \(from \w+\))?: /, ""));
  const meaning = networkMeanings[code];
  return meaning === undefined ? printableLine(code) : `${meaning} (${code})`;
}

function nextStep(cause: unknown, target: Target): string {
  const known = nextSteps[networkCode(cause) ?? ""]?.(target);
  if (known !== undefined) return known;
  const isTimeout = cause instanceof Error && cause.name === "TimeoutError";
  return isTimeout
    ? `The server is slow, or a firewall drops the request. Wait longer with --timeout, or check the address (from ${target.urlFrom}).`
    : `Check the address (from ${target.urlFrom}).`;
}

/** Finds out whether the address has the wrong scheme, which the system's error does not tell. */
async function readScheme(cause: unknown, { url }: Target): Promise<{ why: string; next: string } | undefined> {
  const code = networkCode(cause);
  const other = url.startsWith("https:") ? url.replace(/^https:/, "http:") : url.replace(/^http:/, "https:");
  if (code === "EPROTO" && (await speaksHttp(other)))
    return { why: "the server speaks plain HTTP on this port, not HTTPS (EPROTO)", next: `Use ${other} instead.` };
  if (code === "ECONNRESET" && url.startsWith("http:") && (await speaksTls(url)))
    return { why: "the server speaks HTTPS on this port, not plain HTTP (ECONNRESET)", next: `Use ${other} instead.` };
  return undefined;
}

function startServer({ url, urlFrom }: Target): string {
  return isOnThisMachine(url)
    ? "Start the server with `herald serve`, or give its address with --url."
    : `Check that the server runs, and its address (from ${urlFrom}).`;
}

/** Whether a TLS handshake succeeds at the host and port of `url`, whatever the certificate. Sends nothing else. */
function speaksTls(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ host, port: Number(port || "80"), rejectUnauthorized: false });
  socket.setTimeout(probeMs, () => resolve(false));
  socket.on("secureConnect", () => resolve(true)).on("error", () => resolve(false));
  socket.on("close", () => resolve(false));
  return promise.finally(() => socket.destroy());
}

/** Whether an HTTP server answers at `url`. The request carries no key. */
async function speaksHttp(url: string): Promise<boolean> {
  try {
    await fetch(url, { method: "HEAD", redirect: "manual", signal: AbortSignal.timeout(probeMs) });
    return true;
  } catch {
    return false;
  }
}
