/** The proxy for a URL, without its credentials, and the variable that names it. */
export type EnvironmentProxy = { host: string; variable: string };

/**
 * The proxy that `fetch` takes for a URL because of the environment. Bun and Deno do so, and Node if it is told to. `undefined` in a
 * browser, and wherever the environment may not be read.
 */
export function environmentProxyFor(url: string): EnvironmentProxy | undefined {
  const { protocol, hostname, port } = new URL(url);
  const scheme = protocol.slice(0, -1);
  const names = [`${scheme}_proxy`, `${scheme.toUpperCase()}_PROXY`];
  const variable = names.find((name) => readVariable(name));
  if (variable === undefined || !usesProxies()) return undefined;
  const exceptions = readVariable("no_proxy") ?? readVariable("NO_PROXY") ?? "";
  if (exceptions.split(",").some((one) => isException(one.trim().toLowerCase(), hostname, port))) return undefined;
  return { host: hostOf(readVariable(variable) ?? ""), variable };
}

function isException(pattern: string, hostname: string, port: string): boolean {
  if (pattern === "*") return true;
  const name = pattern.replace(/^\*?\./, "");
  return name !== "" && [hostname, `${hostname}:${port}`].some((host) => host === name || host.endsWith(`.${name}`));
}

/** The host and port of a proxy's address, which may have credentials and no scheme. */
function hostOf(proxy: string): string {
  const [, host = "that cannot be read"] = /^(?:[a-z\d+.-]+:\/\/)?(?:[^/]*@)?([^/@?#]+)/i.exec(proxy) ?? [];
  return host;
}

type Runtime = {
  Bun?: object;
  Deno?: { permissions?: { querySync?(permission: { name: "env"; variable: string }): { state: string } } };
  process?: { env?: { [name: string]: string | undefined }; execArgv?: string[] };
};

const runtime = (): Runtime => ({
  Bun: Reflect.get(globalThis, "Bun"),
  Deno: Reflect.get(globalThis, "Deno"),
  process: Reflect.get(globalThis, "process"),
});

function usesProxies(): boolean {
  const { Bun, Deno, process } = runtime();
  return (
    Boolean(Bun ?? Deno) ||
    readVariable("NODE_USE_ENV_PROXY") === "1" ||
    process?.execArgv?.includes("--use-env-proxy") === true
  );
}

/** A variable of the environment; nothing where Deno would have to ask the user for it. */
function readVariable(name: string): string | undefined {
  const { Deno, process } = runtime();
  if (Deno && Deno.permissions?.querySync?.({ name: "env", variable: name }).state !== "granted") return undefined;
  return process?.env?.[name] || undefined;
}
