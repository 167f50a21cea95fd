import { z } from "zod";

const time = z.iso.datetime({ precision: 3 });

/** What a node says of itself. */
export const nodeStatus = z.strictObject({
  id: z.string().meta({ description: "Made when the node starts." }),
  name: z.string().nullable().meta({ description: "`HERALD_NODE_NAME`, `null` if it is not set." }),
  version: z.string().meta({ description: "The version of Herald." }),
  url: z.string().meta({ description: "Where it listens, as it knows it itself." }),
  started_at: time.meta({ description: "When it started." }),
  reported_at: time.meta({ description: "When it last said all this. Every time here is by the node's own clock." }),
  connections: z.int().min(0).meta({ description: "Connections that have joined." }),
  organizations: z.int().min(0).meta({ description: "Organizations that they are of." }),
  lag_events: z.int().min(0).meta({
    description:
      "How many events the organization that was the most behind had stored and not yet played, when this was last looked at.",
  }),
  lag_checked_at: time.nullable().meta({ description: "When that was: every 5 s. `null` before the first time." }),
});

/** What a node says of itself. */
export type NodeStatus = z.infer<typeof nodeStatus>;

const node = nodeStatus
  .extend({
    state: z.enum(["live", "silent"]).meta({
      description:
        "`silent`: has reported nothing for about 6 s, so it is dead, frozen or cut off. Listed for a minute.",
    }),
  })
  .meta({ id: "Node", description: "A running server of this Herald." });

/** A node as the others see it. */
export type Node = z.infer<typeof node>;

/** All nodes, by id: those that started first come first. */
export const nodeList = z.strictObject({ items: z.array(node) }).meta({ id: "NodeList" });
