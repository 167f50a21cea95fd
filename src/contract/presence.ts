import { z } from "zod";
import { pageOf, pageQuery } from "./directory.ts";
import { identifier } from "./identifiers.ts";

const maxUids = 1000;

/** So many users who are asked about are told with their devices: an answer between nodes has to fit into a message. */
export const maxUsersWithDevices = 20;

const onlineUser = z
  .strictObject({
    id: z.string().meta({ description: "The user." }),
    connections: z.int().min(0).meta({ description: "How many connections the user has, on all nodes." }),
    devices: z.array(z.string().nullable()).optional().meta({
      description:
        "With `devices=true`: the `device_id` that each connection gave, `null` for one that gave none; at most 50 of one node.",
    }),
  })
  .meta({ id: "OnlineUser", description: "A user and how many connections the user has now." });

/** A user and how many connections the user has now. */
export type OnlineUser = z.infer<typeof onlineUser>;

/** A page of who is connected. */
export const onlinePage = pageOf(onlineUser).meta({ id: "OnlinePage" });

/** How many users are connected. */
export const onlineCount = z
  .strictObject({
    count: z.int().min(0).meta({ description: "Users, each once, on however many nodes and devices." }),
    connections: z.int().min(0).meta({ description: "The connections of these users." }),
  })
  .meta({ id: "OnlineCount", description: "How many users are connected now." });

/** How many users are connected. */
export type OnlineCount = z.infer<typeof onlineCount>;

const isTrue = z
  .string()
  .regex(/^(true|false)$/, "must be true or false")
  .default("false")
  .transform((value) => value === "true");

/** The query of who is connected. */
export const onlineQuery = pageQuery.extend({
  devices: isTrue.meta({
    type: "boolean",
    pattern: undefined,
    description: `\`true\`: also the devices of the first ${maxUsersWithDevices} of \`uids\`, by id.`,
  }),
  count: isTrue.meta({
    type: "boolean",
    pattern: undefined,
    description: "`true`: how many they are, instead of the list.",
  }),
  uids: z.array(identifier).min(1).max(maxUids, `must name at most ${maxUids} users`).optional().meta({
    description:
      "Only these users, one item for each, `connections` 0 for who is offline or unknown. Commas stand between ids; a comma within an id is written `%2C`. The parameter may also be repeated.",
  }),
});

/**
 * What nodes ask one another of an organization: about these users, or who is connected, by id, after a place. To ask about no user
 * is to ask how much the organization does.
 */
export type PresenceQuestion = { org: string } & (
  | { uids: string[]; devices?: boolean | undefined }
  | { after: string; limit: number }
);

/** What one node answers about its own connections. */
export type PresenceAnswer = {
  /** Those that were asked about and are connected, by id. At most so many that the answer fits into a message. */
  online: OnlineUser[];
  /** Whether the list goes on after its last user. */
  hasMore: boolean;
  /** All users of the organization that are connected to this node, and their connections. */
  total: { users: number; connections: number };
  /** Asked about no user: requests, in units of cost, and stored sends of the last whole second. Earlier versions do not tell. */
  rates?: { requests: number; messages: number } | undefined;
};
