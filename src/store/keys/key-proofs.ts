import { invalidKey } from "../../contract/errors/errors.ts";
import { isLiveOrganization } from "../directory/entity.ts";
import type { KeyProof } from "../ports.ts";
import type { Row, Sql, Transaction } from "../sql/driver.ts";
import type { StoredSecret } from "./ports.ts";

type ProofRow = Row & { org: string | null; secrets: string; expires_at: number | null };

const find = `SELECT org, secrets, expires_at FROM api_key
  WHERE id = ? AND revoked_at IS NULL AND (org IS NULL OR ${isLiveOrganization("api_key.org")})`;

/**
 * Throws `unauthorized` unless the key of a call is still valid, as what a node remembers of it may be out of date. Locks the
 * key, so that a revocation comes either before the change or after its commit. Call it last, after every other lock of
 * the transaction, so that no two transactions deadlock. Without a proof the caller is not in the table.
 */
export async function requireKey({ all, dialect }: Transaction, proof: KeyProof | undefined): Promise<void> {
  if (proof === undefined) return;
  if (!admits(await all<ProofRow>(find + dialect.forShare, proof.id), proof)) throw invalidKey();
}

/** Whether the key of a call is valid now. */
export async function isValidKey(sql: Pick<Sql, "all">, proof: KeyProof): Promise<boolean> {
  return admits(await sql.all<ProofRow>(find, proof.id), proof);
}

function admits([row]: ProofRow[], { org, digest, now }: KeyProof): boolean {
  if (row === undefined || row.org !== org) return false;
  if (row.expires_at !== null && Number(row.expires_at) <= now) return false;
  const secrets: StoredSecret[] = JSON.parse(row.secrets);
  return secrets.some((secret) => secret.digest === digest && (secret.expiresAt === null || secret.expiresAt > now));
}
