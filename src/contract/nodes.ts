import { z } from "zod";

const time = z.iso.datetime({ precision: 3 });

const count = (what: string) => z.int().min(0).meta({ description: what });
const milliseconds = z.number().min(0);

/** What a node has done since it started. */
export const nodeFigures = z
  .strictObject({
    sends: count("Messages and system messages that were sent to it and are stored; retries not among them."),
    send_errors: count("Sends that it could not take and answered with 5xx."),
    deliveries: count("Messages and system messages that it handed to connections: one for each connection."),
    slow_consumers_cut: count("Connections that were cut, or hung up, while bytes waited for them."),
    repairs: count("How often it read from the database what the bus had not brought."),
    latency_ms: z.strictObject({ p50: milliseconds.nullable(), p99: milliseconds.nullable() }).meta({
      description:
        "From the commit of a message to its delivery, over about the last 30 s; `null` if nothing was delivered. Of what other nodes committed as exact as the clocks of the two agree.",
    }),
    event_loop_delay_ms: z
      .strictObject({ p50: milliseconds, p99: milliseconds })
      .meta({ description: "How late the node got round to what was due, over about the last 30 s." }),
    bus: z
      .enum(["up", "down", "none"])
      .meta({ description: "Its connection to the bus between the nodes; `none`: it runs alone, without one." }),
  })
  .meta({ id: "NodeFigures", description: "What a node counts: since it started, but for latency and delay." });

/** What a node counts. */
export type NodeFigures = z.infer<typeof nodeFigures>;

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
  figures: nodeFigures,
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
