import { connect } from "node:tls";

const probeMs = 2_000;

/** Whether a TLS handshake succeeds at the host and port of `url`, whatever the certificate. Sends nothing else. */
export function speaksTls(url: string): Promise<boolean> {
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
export async function speaksHttp(url: string): Promise<boolean> {
  try {
    await fetch(url, { method: "HEAD", redirect: "manual", signal: AbortSignal.timeout(probeMs) });
    return true;
  } catch {
    return false;
  }
}
