import type { Role } from "../../contract/people/roles.ts";
import { createMapping, json, type Mapped, nullable, number, text } from "../sql/mapping.ts";

/** The columns of the sessions of people. Times in milliseconds since the Unix epoch. */
export const personSessions = createMapping({
  /** UUIDv7, not a secret. */
  id: text("id"),
  /** The digest of the secret in the cookie. */
  digest: text("digest"),
  subject: text("subject"),
  name: text("name"),
  roles: json<Role[]>("roles"),
  /** Where the person signed in from. */
  address: nullable(text("address")),
  createdAt: number("created_at"),
  expiresAt: number("expires_at"),
});

/** The session of a person who signed in at the OpenID provider. */
export type PersonSession = Mapped<typeof personSessions>;

/** The sessions of people. One that has ended is as if it had never existed. */
export type PersonSessions = PersonSessionReads & PersonSessionWrites;

/** Reads sessions of people that have not expired by `now`. */
export type PersonSessionReads = {
  /** Those with one of these digests. */
  find(digests: readonly string[], now: number): Promise<PersonSession[]>;
  get(id: string, now: number): Promise<PersonSession | undefined>;
  /** By id, the oldest first. */
  list(page: { after: string | undefined; limit: number }, now: number): Promise<PersonSession[]>;
};

/** Writes sessions of people. */
export type PersonSessionWrites = {
  /** Stores a session. Of more than `most` of its person, the oldest end. */
  create(session: PersonSession, most: number): Promise<void>;
  /** Ends a session. False if there was none. */
  remove(id: string): Promise<boolean>;
};
