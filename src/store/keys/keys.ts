import { invalidKey } from "../../contract/errors/errors.ts";
import { isLiveOrganization } from "../directory/entity.ts";
import type { WriteDependencies } from "../log/log-writer.ts";
import type { KeyProof } from "../ports.ts";
import type { Reader, Row, Sql, Transaction } from "../sql/driver.ts";
import { createRowReads } from "../sql/mapping.ts";
import {
  type KeyChange,
  type KeyReads,
  type KeyWrites,
  type Rotation,
  type StoredSecret,
  storedKeys,
} from "./ports.ts";

type KeyRow = Row & { id: string; secrets: string; revoked_at: number | null; version: number };
type ProofRow = Row & { org: string | null; secrets: string; expires_at: number | null };

const { read, write } = storedKeys;
const columns = `${storedKeys.columns}, revoked_at, version`;
const find = `SELECT ${columns} FROM api_key WHERE id = ? AND revoked_at IS NULL`;
const findProof = `SELECT org, secrets, expires_at FROM api_key
  WHERE id = ? AND revoked_at IS NULL AND (org IS NULL OR ${isLiveOrganization("api_key.org")})`;
// The rows of revoked keys stay, so that no link is missing.
const findMaker = `WITH RECURSIVE maker(id) AS (
    SELECT created_by FROM api_key WHERE id = ?
    UNION SELECT made.created_by FROM api_key made JOIN maker ON maker.id = made.id
  ) SELECT id FROM maker WHERE id = ?`;
const changes = createRowReads(toChange);

/**
 * Creates the writes of API keys. Every change but `markUsed` gives the key the next version, counted over all keys.
 * Changes of several keys lock them in key order, so that nodes never deadlock.
 */
export function createKeyWrites({ driver, writer }: WriteDependencies): KeyWrites {
  const { forUpdate, givenTexts } = driver.dialect;
  const markUsed = `UPDATE api_key SET last_used_at = ? WHERE id IN
    (SELECT id FROM api_key WHERE id IN (${givenTexts}) AND COALESCE(last_used_at, 0) < ? ORDER BY id${forUpdate})`;

  /** Locks a key that is to be changed, and that of the caller, which must still be valid. */
  async function lock(sql: Transaction, id: string, by: KeyProof | undefined): Promise<void> {
    await sql.rows.lock("api_key", ["id"], by === undefined ? [{ id }] : [{ id }, { id: by.id }]);
    await requireKey(sql, by);
  }

  return {
    create: (key, by) =>
      writer.transaction(key.org === null ? [] : [key.org], async ({ sql, heads }) => {
        if (key.org !== null && !heads.has(key.org)) return false;
        const stored = write({ ...key, secrets: [{ digest: key.digest, expiresAt: null }] });
        const { pepper, createdBy: created_by = null } = key;
        await sql.rows.insert("api_key", [{ ...stored, pepper, created_by, version: await nextVersion(sql) }]);
        await requireKey(sql, by);
        return true;
      }),
    rotate: (id, rotation, by) =>
      driver.transaction(async (sql) => {
        const version = await nextVersion(sql);
        await lock(sql, id, by);
        const [row] = await sql.all<KeyRow>(find, id);
        if (row === undefined) return undefined;
        const key = read(row);
        const secrets = rotated(key.secrets, rotation);
        const update = "UPDATE api_key SET secrets = ?, pepper = ?, version = ? WHERE id = ?";
        await sql.run(update, JSON.stringify(secrets), rotation.pepper, version, id);
        return { ...key, secrets };
      }),
    revoke: (id, now, by) =>
      driver.transaction(async (sql) => {
        const version = await nextVersion(sql);
        await lock(sql, id, by);
        const update = "UPDATE api_key SET revoked_at = ?, version = ? WHERE id = ? AND revoked_at IS NULL";
        return (await sql.run(update, now, version, id)) > 0;
      }),
    async markUsed(ids, now) {
      await driver.transaction((sql) => sql.run(markUsed, now, JSON.stringify(ids), now));
    },
  };
}

/**
 * Throws `unauthorized` unless the key of a call is still valid, as what a node remembers of it may be out of date. Locks the
 * key, so that a revocation comes either before the change or after its commit. Call it last, after every other lock of
 * the transaction, so that no two transactions deadlock. Without a proof the caller is not in the table.
 */
export async function requireKey({ all, dialect }: Transaction, proof: KeyProof | undefined): Promise<void> {
  if (proof === undefined) return;
  if (!admits(await all<ProofRow>(findProof + dialect.forShare, proof.id), proof)) throw invalidKey();
}

function admits([row]: ProofRow[], { org, digest, now }: KeyProof): boolean {
  if (row === undefined || row.org !== org) return false;
  if (row.expires_at !== null && Number(row.expires_at) <= now) return false;
  const secrets: StoredSecret[] = JSON.parse(row.secrets);
  return secrets.some((secret) => secret.digest === digest && (secret.expiresAt === null || secret.expiresAt > now));
}

/** Revokes at most `limit` of an organization's keys and returns their number. */
export async function revokeSomeKeysOf(
  sql: Transaction,
  { org, now, limit }: { org: string; now: number; limit: number },
): Promise<number> {
  const live = "FROM api_key WHERE org = ? AND revoked_at IS NULL ORDER BY id LIMIT ?";
  if ((await sql.all(`SELECT id ${live}`, org, 1)).length === 0) return 0;
  const update = `UPDATE api_key SET revoked_at = ?, version = ? WHERE id IN (SELECT id ${live}${sql.dialect.forUpdate})`;
  return await sql.run(update, now, await nextVersion(sql), org, limit);
}

/** Creates the reads of API keys. */
export function createKeyReads({ reader }: { reader: Reader }): KeyReads {
  const listAll = `SELECT ${columns} FROM api_key WHERE id > ? AND revoked_at IS NULL ORDER BY id LIMIT ?`;
  const listOfOne = listAll.replace("WHERE", "WHERE org = ? AND");
  const findChanges = `SELECT ${columns} FROM api_key WHERE version > ?
    UNION SELECT ${columns} FROM api_key WHERE id IN (${reader.dialect.givenTexts})`;
  return {
    get: (id) => storedKeys.readFirst(reader.all(find, id)),
    list: ({ after = "", limit, org }) =>
      storedKeys.readAll(
        org === undefined ? reader.all(listAll, after, limit) : reader.allOf(org, listOfOne, org, after, limit),
      ),
    latest: () => changes.readFirst(reader.all(`SELECT ${columns} FROM api_key ORDER BY version DESC LIMIT 1`)),
    changes: (since, ids) => changes.readAll(reader.all(findChanges, since, JSON.stringify(ids))),
    isValid: async (proof) => admits(await reader.all<ProofRow>(findProof, proof.id), proof),
    isMadeBy: async (id, maker) => (await reader.all(findMaker, id, maker)).length > 0,
    async countOfOtherPepper(pepper) {
      const count = "SELECT COUNT(*) AS count FROM api_key WHERE pepper <> ? AND revoked_at IS NULL";
      const [row] = await reader.all<{ count: number }>(count, pepper);
      return Number(row?.count ?? 0);
    },
  };
}

/**
 * Increments the version. The row stays locked until the commit, so versions follow the order of commits, and none
 * becomes visible before a smaller one.
 */
async function nextVersion(sql: Sql): Promise<number> {
  const [row] = await sql.all<{ version: number }>(
    "UPDATE api_key_version SET version = version + 1 RETURNING version",
  );
  if (row === undefined) throw new Error("the version of the API keys is not in the database");
  return Number(row.version);
}

/** The new secret, and the earlier ones that are still valid, none for longer than before. */
function rotated(secrets: StoredSecret[], { digest, othersEndAt, keep, now }: Rotation): StoredSecret[] {
  const others = secrets
    .map((secret) => ({ ...secret, expiresAt: Math.min(secret.expiresAt ?? othersEndAt, othersEndAt) }))
    .filter(({ expiresAt }) => expiresAt > now);
  return [{ digest, expiresAt: null }, ...others].slice(0, keep);
}

function toChange(row: KeyRow): KeyChange {
  const { id, secrets, revoked_at } = row;
  const key = revoked_at === null ? read(row) : undefined;
  return { id, version: Number(row.version), mark: JSON.stringify([id, revoked_at, secrets]), key };
}
