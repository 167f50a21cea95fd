import { type Config, internalAddressOf, publicAddressOf } from "../../config.ts";
import { systemClock } from "../../lib/time/clock.ts";
import { readTls } from "../../lib/tls/tls-files.ts";
import { localUrlOf } from "../local-url.ts";
import { plainHttpAdvice } from "../plain-http.ts";
import { type Finding, failure, ok, warning } from "./finding.ts";

const answersWithinMs = 2_000;
const dayMs = 86_400_000;
const soonDays = 14;

/** Whether a server answers at the configured address, or could listen there. */
export async function checkAddress(config: Config): Promise<Finding[]> {
  const { hostname, port } = publicAddressOf(config);
  const url = localUrlOf(config, { hostname, port });
  const findings = [port === 0 ? ok("address", "the start picks a free port") : await checkPort(url, hostname, port)];
  const advice = plainHttpAdvice(config);
  if (advice !== undefined) {
    const at = [hostname, internalAddressOf(config)?.hostname ?? []].flat().join(" and ");
    findings.push(warning("TLS", `plain HTTP on ${at}`, advice));
  }
  return findings;
}

async function checkPort(url: string, hostname: string, port: number): Promise<Finding> {
  const answer = await askHealth(url);
  if (answer !== undefined) return answer;
  try {
    await Bun.serve({ hostname, port, reusePort: false, fetch: () => new Response(null) }).stop(true);
    return ok("address", `nobody listens on ${url}, so a server can`);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    const advice = "stop the program that uses the port, or set HERALD_HOST and HERALD_PORT to an address that is free";
    return failure("address", `a server cannot listen on ${url} (${code})`, advice);
  }
}

async function askHealth(url: string): Promise<Finding | undefined> {
  try {
    const init = { signal: AbortSignal.timeout(answersWithinMs), tls: { rejectUnauthorized: false } };
    const response = await fetch(`${url}/healthz`, init);
    const body: unknown = await response.json();
    const isHerald = typeof body === "object" && body !== null && "checks" in body;
    if (!isHerald) throw new Error("not Herald");
    if (response.ok) return ok("address", `Herald answers on ${url}`);
    const advice = `see \`curl ${url}/healthz\` and the server's log`;
    return failure("address", `Herald answers on ${url} that it is not well`, advice);
  } catch {
    return undefined;
  }
}

/** Whether the certificate can be served, and until when. */
export function checkCertificate({ HERALD_TLS_CERT: cert, HERALD_TLS_KEY: key }: Config): Finding[] {
  if (cert === undefined || key === undefined) return [];
  const { expiresAt } = readTls({ cert, key }, systemClock);
  const days = Math.floor((expiresAt - systemClock.now()) / dayMs);
  const detail = `valid for ${days} more days`;
  if (days >= soonDays) return [ok("certificate", detail)];
  return [warning("certificate", detail, "renew it and replace the files; Herald picks them up without a restart")];
}

/** Which pages may connect. */
export function checkOrigins({ HERALD_ALLOWED_ORIGINS: origins }: Config): Finding[] {
  if (origins.length === 0) return [ok("origins", "only pages of the server's own origin may connect")];
  if (!origins.includes("*")) return [ok("origins", origins.join(", "))];
  const advice = "list the origins of your own pages in HERALD_ALLOWED_ORIGINS";
  return [warning("origins", "pages of every origin may connect", advice)];
}
