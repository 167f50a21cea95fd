import { z } from "zod";
import { pageOf, pageQuery, queryFlag } from "./directory.ts";
import { identifier } from "./identifiers.ts";

const maxUids = 1000;

/** How many users a query returns devices for. The answer between nodes has to fit into one bus message. */
export const maxUsersWithDevices = 20;

const onlineUser = z
  .strictObject({
    id: z.string().meta({ description: "The user." }),
    connections: z.int().min(0).meta({ description: "The number of connections that the user has, on all nodes." }),
    devices: z.array(z.string().nullable()).optional().meta({
      description:
        "With `devices=true`: the `device_id` of each connection, or `null` for a connection without one. At most 50 per node.",
    }),
  })
  .meta({ id: "OnlineUser", description: "A user and the user's current number of connections." });

/** A user and the user's current number of connections. */
export type OnlineUser = z.infer<typeof onlineUser>;

/** A page of connected users. */
export const onlinePage = pageOf(onlineUser).meta({ id: "OnlinePage" });

/** How many users are connected. */
export const onlineCount = z
  .strictObject({
    count: z.int().min(0).meta({
      description: "The number of connected users. Each counts once, however many nodes and devices are involved.",
    }),
    connections: z.int().min(0).meta({ description: "The number of connections of these users." }),
  })
  .meta({ id: "OnlineCount", description: "The number of users who are connected now." });

/** The number of connected users. */
export type OnlineCount = z.infer<typeof onlineCount>;

/** The query for connected users. */
export const onlineQuery = pageQuery.extend({
  devices: queryFlag(`\`true\` also returns the devices of the first ${maxUsersWithDevices} of the \`uids\`, by id.`),
  count: queryFlag("`true` returns the number of users instead of the list."),
  uids: z.array(identifier).min(1).max(maxUids, `must name at most ${maxUids} users`).optional().meta({
    description:
      "Only these users, with one item for each. `connections` is 0 for a user who is offline or unknown. Separate ids with commas, and write a comma within an id as `%2C`. The parameter may also be repeated.",
  }),
});
