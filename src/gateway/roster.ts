import type { Connection } from "./connection.ts";

/** The connections of this node that have joined, by organization and user. */
export type Roster = {
  add(connection: Connection): void;
  remove(connection: Connection): void;
  /** The connections of one user. */
  of(org: string, uid: string): Iterable<Connection>;
  has(org: string, uid: string): boolean;
  /** The connections of an organization. */
  ofOrganization(org: string): Connection[];
};

/** An empty roster. */
export function createRoster(): Roster {
  const organizations = new Map<string, Map<string, Set<Connection>>>();
  return {
    add(connection) {
      const users = organizations.get(connection.org) ?? new Map<string, Set<Connection>>();
      organizations.set(connection.org, users);
      users.set(connection.uid, (users.get(connection.uid) ?? new Set()).add(connection));
    },
    remove(connection) {
      const users = organizations.get(connection.org);
      const connections = users?.get(connection.uid);
      connections?.delete(connection);
      if (connections?.size === 0) users?.delete(connection.uid);
      if (users?.size === 0) organizations.delete(connection.org);
    },
    of: (org, uid) => [...(organizations.get(org)?.get(uid) ?? [])],
    has: (org, uid) => organizations.get(org)?.has(uid) === true,
    ofOrganization: (org) => [...(organizations.get(org)?.values() ?? [])].flatMap((connections) => [...connections]),
  };
}
