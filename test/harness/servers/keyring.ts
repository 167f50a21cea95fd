import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unavailable } from "../../../src/contract/errors/errors.ts";
import type { CreateKeyRequest } from "../../../src/contract/keys/keys.ts";
import { createAuthentication, createKeyUsage } from "../../../src/services/keys/authentication.ts";
import { createBootstrapKey } from "../../../src/services/keys/bootstrap-key.ts";
import { createKeyCache, createKeyDigest } from "../../../src/services/keys/key-cache.ts";
import { createKeys } from "../../../src/services/keys/keys.ts";
import type { Caller } from "../../../src/services/keys/permissions.ts";
import { createRefusals } from "../../../src/services/limits/refusals.ts";
import type { KeyReads } from "../../../src/store/keys/ports.ts";
import { migrateStore } from "../../../src/store/migrate.ts";
import type { Row } from "../../../src/store/sql/driver.ts";
import { openSqlite } from "../../../src/store/sqlite/sqlite.ts";
import { createTestStore } from "../../../src/store/testing/test-store.ts";

/** The bootstrap key of `openKeys`. */
export const bootstrapKey = "bootstrap-key-0123456789abcdefghijklmnop";

type Options = { maxKeys?: number; refusals?: { perSecond: number; burst: number } };

/**
 * Opens keys on a real database, with a clock and a link to the store that the test controls. Organizations `o1` and
 * `o2` exist.
 */
export async function openKeys({ refusals: rate, ...options }: Options = {}) {
  const folder = mkdtempSync(join(tmpdir(), "herald-keys-"));
  const driver = openSqlite(join(folder, "herald.db"));
  await migrateStore(driver);
  const store = createTestStore(driver);
  for (const org of ["o1", "o2"]) await store.organizations.put(org, undefined, 1);
  const time = { now: Date.UTC(2026, 10, 20), elapsed: 0 };
  const clock = { now: () => time.now };
  const elapsed = { now: () => time.elapsed };
  const link = { isCut: false, asked: [] as string[][] };
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  const refusals = createRefusals({ perSecond: Number.POSITIVE_INFINITY, burst: 0, ...rate, clock: elapsed });
  const digest = createKeyDigest("the secret of the server");

  /** Starts another node on the same database, with a cache of its own. Its `link` to the store can be cut. */
  function startNode() {
    const reads: KeyReads = {
      ...store.keys,
      async changes(since, ids) {
        link.asked.push(ids);
        if (link.isCut) throw unavailable();
        return await store.keys.changes(since, ids);
      },
    };
    const cache = createKeyCache({ keys: reads, elapsed, onError, ...options });
    const usage = createKeyUsage({ keys: store.keys, clock, onError });
    const initial = { key: bootstrapKey, former: [] };
    const bootstrap = createBootstrapKey({ initial, store: undefined, digest, clock, onKey: () => undefined });
    const { authenticate } = createAuthentication({ bootstrap, digest, cache, usage, refusals, clock, elapsed });
    return {
      cache,
      usage,
      keys: createKeys({ keys: store.keys, bootstrap, digest, cache, clock }),
      authenticate,
      /** The caller, or the code of the refusal. */
      async ask(key: string | null, address = "192.0.2.1", hasLongBody = false): Promise<Caller | string> {
        try {
          return await authenticate(key, address, hasLongBody);
        } catch (error) {
          return error instanceof Error && "code" in error ? String(error.code) : String(error);
        }
      },
    };
  }

  const node = startNode();
  const admin = await node.authenticate(bootstrapKey, "");
  return {
    ...node,
    store,
    time,
    link,
    errors,
    startNode,
    admin,
    create: (request: Partial<CreateKeyRequest> = {}) =>
      node.keys.create(admin, { name: "a key", scopes: ["*"], ...request }),
    /** Remembers the keys of the database; returns the function that restores them, like a standby that lagged. */
    async snapshotKeys(): Promise<() => Promise<void>> {
      const tables = ["api_key", "api_key_version"];
      const rows = await Promise.all(tables.map((table) => driver.all<Row>(`SELECT * FROM ${table}`)));
      return () =>
        driver.transaction(async (sql) => {
          for (const [index, table] of tables.entries()) {
            await sql.run(`DELETE FROM ${table}`);
            await sql.rows.insert(table, rows[index] ?? []);
          }
        });
    },
    async [Symbol.asyncDispose]() {
      await driver.close();
      rmSync(folder, { recursive: true });
    },
  };
}
