import type { Scope } from "../../contract/keys/scopes.ts";
import type { EntityPage, KeyProof } from "../ports.ts";
import { createMapping, json, type Mapped, nullable, number, text } from "../sql/mapping.ts";

/** A secret of an API key: its digest, and when it expires (`null`: with the key). */
export type StoredSecret = { digest: string; expiresAt: number | null };

/** The columns of API keys. Times in milliseconds since the Unix epoch. */
export const storedKeys = createMapping({
  id: text("id"),
  name: text("name"),
  scopes: json<Scope[]>("scopes"),
  org: nullable(text("org")),
  /** The only users it may send as. */
  senders: nullable(json<string[]>("senders")),
  /** The only networks it may be used from, in CIDR notation. */
  networks: nullable(json<string[]>("networks")),
  /** The newest first. */
  secrets: json<StoredSecret[]>("secrets"),
  expiresAt: nullable(number("expires_at")),
  createdAt: number("created_at"),
  /** When it was last used, accurate to a minute or two. */
  lastUsedAt: nullable(number("last_used_at")),
});

/** A stored API key. */
export type StoredKey = Mapped<typeof storedKeys>;

/** The rights of an API key. `null` means no restriction. */
export type KeyRights = Pick<StoredKey, "scopes" | "org" | "senders" | "networks" | "expiresAt">;

/** A key to be stored with its first secret. `pepper` identifies the pepper of its digest. */
export type NewKey = KeyRights & {
  id: string;
  name: string;
  digest: string;
  pepper: string;
  createdAt: number;
  /** The key that creates it. */
  createdBy?: string | undefined;
};

/** API keys. A revoked key is as if it had never existed, but its row stays, as events refer to it. */
export type ApiKeys = KeyReads & KeyWrites;

/** Reads API keys. */
export type KeyReads = {
  get(id: string): Promise<StoredKey | undefined>;
  /** Keys by id; if `org` is given, only those of that organization. */
  list(page: EntityPage & { org: string | undefined }): Promise<StoredKey[]>;
  /** The key changed last, or `undefined` if there are none. Versions follow the order of commits. */
  latest(): Promise<KeyChange | undefined>;
  /** In one snapshot: keys changed after version `since`, and those of `ids` that exist; both include revoked keys. */
  changes(since: number, ids: string[]): Promise<KeyChange[]>;
  /** Whether the key of a call is valid now, whatever a node remembers of it. */
  isValid(proof: KeyProof): Promise<boolean>;
  /** Whether the key `maker` has created this one, or one of those that led to it, however many are revoked. */
  isMadeBy(id: string, maker: string): Promise<boolean>;
  /** The number of keys whose digests use another pepper. */
  countOfOtherPepper(pepper: string): Promise<number>;
};

/**
 * A key as of `version`; `key` is `undefined` if it was revoked. `mark` identifies the change, even if a database that
 * lost its last commits reused the version.
 */
export type KeyChange = { id: string; version: number; mark: string; key: StoredKey | undefined };

/** A new secret, and when earlier ones expire at the latest. At most `keep` secrets stay; the oldest go first. */
export type Rotation = { digest: string; pepper: string; othersEndAt: number; keep: number; now: number };

/** Writes API keys. Rejects with `unauthorized` if the key `by` is no longer valid, like all writes that take a proof. */
export type KeyWrites = {
  /** False if there is no such organization. */
  create(key: NewKey, by?: KeyProof): Promise<boolean>;
  /** Returns the key with its new secret, or `undefined` if there is none. */
  rotate(id: string, rotation: Rotation, by?: KeyProof): Promise<StoredKey | undefined>;
  /** False if there was none. */
  revoke(id: string, now: number, by?: KeyProof): Promise<boolean>;
  /** Records that these keys were used. */
  markUsed(ids: string[], now: number): Promise<void>;
};
