import { HeraldError } from "../../contract/errors/errors.ts";
import type { KeyReads } from "../../store/keys/ports.ts";
import { isPrincipalId } from "../people/principals.ts";
import { bootstrapId } from "./bootstrap-key.ts";
import { type Caller, unlisted } from "./permissions.ts";

type Asked = {
  keyId: string;
  now: number;
  /** What the key did with the send, for the error. */
  did: "scheduled" | "proposed";
};

/**
 * The holder of a key that acts later, without a call: so its networks do not count. Throws `unauthorized` for a key that is valid no
 * more.
 */
export async function holderOf(keys: Pick<KeyReads, "get">, { keyId, now, did }: Asked): Promise<Caller> {
  if (keyId === bootstrapId) return unlisted(keyId);
  // The provider says what a person may do only when the person comes back; it allowed the send when it was made.
  if (isPrincipalId(keyId)) return unlisted(keyId);
  const key = await keys.get(keyId);
  const gone = (how: string) => new HeraldError("unauthorized", `the API key that ${did} this send ${how}`);
  if (key === undefined) throw gone("was revoked");
  if (key.expiresAt !== null && key.expiresAt <= now) throw gone("has expired");
  const { scopes, org, senders, networks, expiresAt } = key;
  return unlisted(keyId, { scopes, org, senders, networks, expiresAt });
}
