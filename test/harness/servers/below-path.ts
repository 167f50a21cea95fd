import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { startNginx } from "../engines/nginx.ts";
import { callsTo, type Herald, startHerald } from "./herald.ts";

/** The path below which these servers are reached. */
const basePath = "/herald";

/** Whether the proxy keeps the path in requests or removes it, or there is none. */
export type PathProxy = "keeps it" | "removes it" | "none";

/** A server that is called below a path. `origin` is the address without it, and `node` is called directly. */
export type BelowPath = Herald & { origin: string; node: Herald };

/** Starts a server and, in front of it, the nginx that docs/how-to/configure.md shows. */
export async function startBelowPath(
  nginx: string | undefined,
  proxy: PathProxy,
  env: Record<string, string> = {},
): Promise<BelowPath> {
  await using stack = new AsyncDisposableStack();
  const node = stack.use(
    await startHerald({ env: { HERALD_BASE_PATH: basePath, HERALD_TRUSTED_PROXIES: "127.0.0.1", ...env } }),
  );
  const front =
    nginx === undefined || proxy === "none"
      ? node
      : stack.use(await startNginx(nginx, (address) => siteOf(address, node.url, proxy)));
  const { [Symbol.asyncDispose]: _, ...called } = { ...node, ...callsTo(front.url + basePath, node) };
  const owned = stack.move();
  return { ...called, origin: front.url, node, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

function siteOf(address: string, url: string, proxy: PathProxy): string {
  const page = readFileSync(resolve(import.meta.dir, "../../../docs/how-to/configure.md"), "utf8");
  const [location] = /^location \/herald\/ \{$.*?^\}$/ms.exec(page) ?? [];
  if (location === undefined) throw new Error("configure.md shows no location /herald/");
  const target = proxy === "removes it" ? `${url}/;` : `${url};`;
  return `
    map $http_upgrade $connection_upgrade { default upgrade; "" ""; }
    server {
      listen ${address};
      ${location.replace("http://127.0.0.1:7070;", target)}
    }`;
}
