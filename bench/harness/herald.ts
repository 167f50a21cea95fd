import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { benchOrg } from "./organization.ts";
import { type Peer, type PeerOptions, startPeer } from "./servers.ts";

/** Herald as a peer, with what a bench needs to fill it. */
export type HeraldPeer = Peer & {
  /** Creates a conversation of the sender and these users, creating the users as well. */
  putConversation(cid: string, uids: readonly string[], org?: string): Promise<void>;
  tokensOf(uids: readonly string[], org?: string): Promise<string[]>;
};

/** The secret of user tokens in every run, so that clients can sign their own. */
export const tokenSecret = "bench-token-secret-0123456789abcdefghijklmnop";

/** The settings that lift the limits of rates and connections. */
export const liftedLimits: Readonly<Record<string, string>> = Object.fromEntries(
  [
    "REQUESTS_PER_SECOND",
    "REQUESTS_BURST",
    "ORGANIZATION_REQUESTS_PER_SECOND",
    "CONNECTIONS_PER_ADDRESS",
    "CONNECTIONS_PER_USER",
    "USER_REQUESTS",
    "REQUESTS_PER_CONNECTION",
  ].map((name) => [`HERALD_LIMIT_${name}`, "0"]),
);
const atOnce = 50;

/** Those of the lifted settings that this checkout knows: an earlier one has fewer, and refuses to start with others. */
function knownOf(root: string | undefined): Readonly<Record<string, string>> {
  if (root === undefined) return liftedLimits;
  const help = execFileSync(process.execPath, ["src/cli/herald.ts", "serve", "--help"], {
    cwd: root,
    encoding: "utf8",
  });
  return Object.fromEntries(Object.entries(liftedLimits).filter(([name]) => help.includes(name)));
}

/** Where the server comes from; with `areLimitsKept`, it runs with all default limits, including pings; `workers` serve instead of it. */
export type HeraldPeerOptions = PeerOptions & { areLimitsKept?: boolean; workers?: number };

/**
 * Starts the real server without rate and connection limits, with little logging, and without pings, which would count
 * as bytes.
 */
export async function startHerald(
  dataDir: string,
  settings: Record<string, string> = {},
  { areLimitsKept = false, workers = 1, ...options }: HeraldPeerOptions = {},
): Promise<HeraldPeer> {
  const env = {
    HERALD_PORT: "0",
    HERALD_DATA_DIR: join(dataDir, "herald"),
    HERALD_ADMIN_API_KEY: benchOrg.key,
    HERALD_TOKEN_SECRET: tokenSecret,
    ...(!areLimitsKept && {
      HERALD_LIMIT_PING_SECONDS: "86400",
      ...knownOf(options.root),
    }),
    ...settings,
  };
  const divided = workers === 1 ? [] : ["--workers", String(workers)];
  const peer = await startPeer("herald", ["src/cli/herald.ts", "serve", ...divided], env, options);
  const pathOf = (org: string) => `/admin/organizations/${org}`;

  async function ask(method: string, path: string, body: object): Promise<Record<string, unknown>> {
    const response = await fetch(peer.url + path, {
      method,
      headers: { "Admin-Api-Key": benchOrg.key, "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return text === "" ? {} : JSON.parse(text);
  }

  await ask("PUT", pathOf(benchOrg.id), {});
  return {
    ...peer,
    async putConversation(cid, uids, org = benchOrg.id) {
      if (org !== benchOrg.id) await ask("PUT", pathOf(org), {});
      await ask("PUT", `${pathOf(org)}/conversations/${cid}`, { participants: [benchOrg.sender, ...uids] });
    },
    async tokensOf(uids, org = benchOrg.id) {
      const tokens: string[] = [];
      for (let from = 0; from < uids.length; from += atOnce) {
        const asked = uids.slice(from, from + atOnce).map(async (uid) => {
          const { token } = await ask("POST", `${pathOf(org)}/users/${uid}/tokens`, {});
          return String(token);
        });
        tokens.push(...(await Promise.all(asked)));
      }
      return tokens;
    },
  };
}
