import type { Connection } from "../connections/connection.ts";
import { type Audience, createAudience } from "../delivery/audience.ts";
import { conversationTopic, organizationTopic } from "./topics.ts";

/** Creates empty audiences. `onEmpty` is called with the topic when the last subscriber has left. */
export function createAudiences(onEmpty: (topic: string) => void) {
  const audiences = new Map<string, Audience>();
  const heardBy = new Map<Connection, Set<Audience>>();

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
    audience.add(connection.uid);
  }

  function remove(audience: Audience, uid: string): void {
    audience.remove(uid);
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
      if (audience !== undefined && heardBy.get(connection)?.delete(audience)) remove(audience, connection.uid);
    },
    /** Removes a connection that is gone from every audience. */
    leaveAll(connection: Connection): void {
      for (const audience of heardBy.get(connection) ?? []) remove(audience, connection.uid);
      heardBy.delete(connection);
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
