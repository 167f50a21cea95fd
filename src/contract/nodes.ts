import { z } from "zod";
import { isoTime } from "./identifiers.ts";

const count = (what: string) => z.int().min(0).meta({ description: what });
const milliseconds = z.number().min(0);

/** What a node has done since it started. */
export const nodeFigures = z
  .strictObject({
    sends: count("Messages and system messages that this node received and stored, not counting retries."),
    send_errors: count("Sends that failed with 5xx."),
    deliveries: count(
      "Deliveries of messages and system messages. One that is delivered to two connections counts twice.",
    ),
    slow_consumers_cut: count(
      "Connections that ended, dropped by the node or closed by the client, while bytes were waiting for them.",
    ),
    repairs: count("Reads of the database for events that the bus did not deliver."),
    latency_ms: z.strictObject({ p50: milliseconds.nullable(), p99: milliseconds.nullable() }).meta({
      description:
        "Time from the commit of a message to its delivery, over about the last 30 s. `null` if nothing was delivered. For messages that another node committed, only as accurate as the two clocks agree.",
    }),
    event_loop_delay_ms: z
      .strictObject({ p50: milliseconds, p99: milliseconds })
      .meta({ description: "Event loop delay, that is, how late due work ran, over about the last 30 s." }),
    bus: z
      .enum(["up", "down", "none"])
      .meta({ description: "The connection to the bus. `none` means that the node runs alone, without a bus." }),
  })
  .meta({ id: "NodeFigures", description: "Figures of a node since it started, except latency and delay." });

/** The figures of a node. */
export type NodeFigures = z.infer<typeof nodeFigures>;

/** The status that a node reports. */
export const nodeStatus = z.strictObject({
  id: z.string().meta({ description: "The node's id, generated when it starts." }),
  name: z.string().nullable().meta({ description: "`HERALD_NODE_NAME`, or `null` if it is not set." }),
  version: z.string().meta({ description: "The version of Herald." }),
  url: z.string().meta({ description: "The URL that the node listens on, as the node sees it." }),
  admin_url: z.string().optional().meta({
    description:
      "The URL of the node's internal address, which serves the admin API. Absent if the node has a single address.",
  }),
  started_at: isoTime.meta({ description: "When the node started." }),
  reported_at: isoTime.meta({
    description: "When the node last reported its status. All times here are by the node's own clock.",
  }),
  connections: count("Established connections."),
  organizations: count("Organizations that these connections belong to."),
  lag_events: count(
    "Stored events not yet delivered, for the organization that is furthest behind. Checked every 5 s.",
  ),
  lag_checked_at: isoTime
    .nullable()
    .meta({ description: "When `lag_events` was last checked. `null` before the first check." }),
  figures: nodeFigures,
});

/** The status that a node reports. */
export type NodeStatus = z.infer<typeof nodeStatus>;

const node = nodeStatus
  .extend({
    state: z.enum(["live", "silent"]).meta({
      description:
        "`silent` means that the node has reported nothing for about 6 s: it has crashed, hangs or is disconnected. A silent node is listed for one minute.",
    }),
  })
  .meta({ id: "Node", description: "A running Herald server." });

/** A node as the other nodes see it. */
export type Node = z.infer<typeof node>;

/** All nodes by id, which is the order in which they started. */
export const nodeList = z.strictObject({ items: z.array(node) }).meta({ id: "NodeList" });
