import type { Connection } from "../connections/connection.ts";
import { type Audience, createAudience } from "../delivery/audience.ts";
import { conversationTopic, organizationTopic } from "./topics.ts";

type Hearer = Pick<Connection, "uid">;

/** Creates empty audiences. `onEmpty` is called with the topic when the last subscriber has left. */
export function createAudiences(onEmpty: (topic: string) => void) {
  const audiences = new Map<string, Audience>();
  const heardBy = new Map<Hearer, Set<Audience>>();
  const inactive = new WeakSet<Hearer>();

  function add(connection: Connection, cid: string | undefined): void {
    if (!connection.isOpen) return; // a closed connection would never leave
    const heard = heardBy.get(connection) ?? new Set();
    heardBy.set(connection, heard);
    const { org } = connection;
    const topic = topicOf({ org, cid });
    const audience = audiences.get(topic) ?? createAudience(org, cid);
    if (heard.has(audience)) return;
    connection.subscribe(topic);
    heard.add(audience);
    audiences.set(topic, audience);
    audience.add(connection.uid, inactive.has(connection));
  }

  function remove(audience: Audience, connection: Hearer): void {
    audience.remove(connection.uid, inactive.has(connection));
    if (audience.connections > 0) return;
    const topic = topicOf(audience);
    audiences.delete(topic);
    onEmpty(topic);
  }

  return {
    /** Subscribes the connection to events for everyone in its organization. */
    joinOrganization: (connection: Connection): void => add(connection, undefined),
    /** Subscribes the connection to the conversation. */
    join: (connection: Connection, cid: string): void => add(connection, cid),
    leave(connection: Connection, cid: string): void {
      const topic = conversationTopic(connection.org, cid);
      connection.unsubscribe(topic);
      const audience = audiences.get(topic);
      if (audience !== undefined && heardBy.get(connection)?.delete(audience)) remove(audience, connection);
    },
    /** Removes a connection that is gone from every audience. */
    leaveAll(connection: Connection): void {
      for (const audience of heardBy.get(connection) ?? []) remove(audience, connection);
      heardBy.delete(connection);
    },
    /**
     * Notes that the client of a connection is in the background, or back. Returns the number of audiences that it is in; 0 if that
     * was noted before.
     */
    setInactive(connection: Hearer, isInactive: boolean): number {
      if (inactive.has(connection) === isInactive) return 0;
      if (isInactive) inactive.add(connection);
      else inactive.delete(connection);
      const heard = heardBy.get(connection) ?? new Set();
      for (const audience of heard) audience.setInactive(connection.uid, isInactive);
      return heard.size;
    },
    /** Those of the users who are connected to this node, with inactive connections only. */
    awayAmong(org: string, uids: readonly string[]): string[] {
      const away = audiences.get(organizationTopic(org))?.away;
      return away === undefined ? [] : uids.filter((uid) => away.has(uid));
    },
    /** The subscribers of a conversation or an organization, by its topic. */
    of: (topic: string): Audience | undefined => audiences.get(topic),
    /** The number of audiences, and of connections in any. */
    size: (): { audiences: number; connections: number } => ({ audiences: audiences.size, connections: heardBy.size }),
  };
}

/** The subscribers of each conversation and organization on this node, which Bun's native topics cannot list. */
export type Audiences = ReturnType<typeof createAudiences>;

function topicOf({ org, cid }: Pick<Audience, "org" | "cid">): string {
  return cid === undefined ? organizationTopic(org) : conversationTopic(org, cid);
}
