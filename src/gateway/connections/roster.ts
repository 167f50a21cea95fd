import type { OnlineUser, PresenceAnswer } from "../../contract/presence.ts";
import { createSortedTexts, type SortedTexts } from "../../lib/text/sorted-texts.ts";
import type { Connection } from "./connection.ts";

/** The connections of this node that have joined, by organization and user. */
export type Roster = {
  add(connection: Connection): void;
  remove(connection: Connection): void;
  /** The connections of one user. */
  of(org: string, uid: string): Connection[];
  /** The connections of these users, read while they do not change. */
  ofAll(org: string, uids: Iterable<string>): Iterable<Connection>;
  /** How many connections one user has. */
  countOf(org: string, uid: string): number;
  /** The connections of an organization. */
  ofOrganization(org: string): Connection[];
};

/** What is counted of them. */
export type Census = {
  /** The users of an organization after `after`, by id. The roster must not change while they are read. */
  usersAfter(org: string, after: string): Iterable<OnlineUser>;
  /** All users of an organization and their connections. */
  totalOf(org: string): PresenceAnswer["total"];
  /** How many connections there are, and of how many organizations. */
  size(): { organizations: number; connections: number };
};

type Organization = { users: Map<string, Set<Connection>>; uids: SortedTexts; connections: number };

/** An empty roster. */
export function createRoster(): Roster & Census {
  const organizations = new Map<string, Organization>();
  let size = 0;

  function connectionsOf(org: string, uid: string): Set<Connection> | undefined {
    return organizations.get(org)?.users.get(uid);
  }

  return {
    add(connection) {
      const { org, uid } = connection;
      let organization = organizations.get(org);
      if (organization === undefined) {
        organization = { users: new Map(), uids: createSortedTexts(), connections: 0 };
        organizations.set(org, organization);
      }
      let connections = organization.users.get(uid);
      if (connections === undefined) {
        connections = new Set();
        organization.users.set(uid, connections);
        organization.uids.add(uid);
      }
      if (connections.has(connection)) return;
      connections.add(connection);
      organization.connections++;
      size++;
    },
    remove(connection) {
      const { org, uid } = connection;
      const organization = organizations.get(org);
      const connections = organization?.users.get(uid);
      if (organization === undefined || connections?.delete(connection) !== true) return;
      organization.connections--;
      size--;
      if (connections.size > 0) return;
      organization.users.delete(uid);
      organization.uids.remove(uid);
      if (organization.users.size === 0) organizations.delete(org);
    },
    of: (org, uid) => [...(connectionsOf(org, uid) ?? [])],
    *ofAll(org, uids) {
      for (const uid of uids) yield* connectionsOf(org, uid) ?? [];
    },
    countOf: (org, uid) => connectionsOf(org, uid)?.size ?? 0,
    ofOrganization: (org) =>
      [...(organizations.get(org)?.users.values() ?? [])].flatMap((connections) => [...connections]),
    *usersAfter(org, after) {
      const organization = organizations.get(org);
      for (const id of organization?.uids.after(after) ?? [])
        yield { id, connections: connectionsOf(org, id)?.size ?? 0 };
    },
    totalOf(org) {
      const { users, connections = 0 } = organizations.get(org) ?? {};
      return { users: users?.size ?? 0, connections };
    },
    size: () => ({ organizations: organizations.size, connections: size }),
  };
}
