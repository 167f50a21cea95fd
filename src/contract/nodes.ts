import { z } from "zod";
import { queryFlag } from "./directory.ts";
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

const nodeRefusals = z
  .strictObject({
    keys: count("Calls that were refused with 401, without a valid key."),
    tokens: count("User tokens that were refused: invalid, expired, revoked, or of a blocked user."),
    rate_limited: count("Calls that were refused with 429, because a limit was reached.").optional(),
  })
  .meta({
    id: "NodeRefusals",
    description:
      "What a node has refused since it started. Absent, or without some of it, from nodes of earlier versions.",
  });

/** What a node has refused since it started. */
export type NodeRefusals = z.infer<typeof nodeRefusals>;

const problemKinds = [
  "database",
  "bus",
  "files",
  "outbox",
  "identity_provider",
  "sign_in_provider",
  "outbox_waits",
  "webhooks_wait",
  "scheduled_wait",
  "stopping",
] as const;

/** What can be wrong with a node, or with what it depends on. */
export type NodeProblemKind = (typeof problemKinds)[number];

const nodeProblem = z
  .strictObject({
    kind: z.enum(problemKinds).meta({
      description:
        "`database`, `bus`, `files`, `outbox`, `identity_provider` (of user tokens), `sign_in_provider` (of people and workloads): what the node depends on is away. `outbox_waits`: a row of the outbox has waited for more than 10 s. `webhooks_wait`: a webhook should have been told for more than 30 s. `scheduled_wait`: a scheduled send has been due for more than 10 s. `stopping`: the node finishes its work, and leaves.",
    }),
    since: isoTime.meta({ description: "Since when, exact to a few seconds." }),
  })
  .meta({ id: "NodeProblem", description: "Something that is wrong with a node, or with what it depends on." });

/** Something that is wrong with a node, or with what it depends on. */
export type NodeProblem = z.infer<typeof nodeProblem>;

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
  refusals: nodeRefusals.optional(), // not in the figures: nodes of earlier versions read those as they know them
  problems: z.array(nodeProblem).optional().meta({
    description: "What is wrong, as the node sees it; empty if all is well. Absent from nodes of earlier versions.",
  }),
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

const rate = (what: string) =>
  z
    .number()
    .min(0)
    .nullable()
    .meta({ description: `${what}, per second since the sample before; \`null\` if unknown.` });

const nodeSample = z
  .strictObject({
    at: isoTime.meta({ description: "When it was taken." }),
    nodes: count("Live nodes."),
    connections: count("Established connections."),
    lag_events: count("The greatest `lag_events` of a node."),
    sends: rate("Stored sends"),
    deliveries: rate("Deliveries"),
    send_errors: rate("Sends that failed with 5xx"),
    slow_consumers_cut: rate("Connections that ended with bytes waiting"),
    refused_keys: rate("Calls without a valid key"),
    refused_tokens: rate("Refused user tokens"),
    rate_limited: rate("Calls that were refused with 429"),
    latency_ms: z.strictObject({ p50: milliseconds.nullable(), p99: milliseconds.nullable() }).meta({
      description: "The greatest of a node, as in its `figures`.",
    }),
  })
  .meta({ id: "NodeSample", description: "What all live nodes did together. Rates are those of their counters." });

/** What all live nodes did together, at one time. */
export type NodeSample = z.infer<typeof nodeSample>;

const nodeHistory = z
  .strictObject({
    read_at: isoTime.meta({ description: "When it was read, by the same clock as the times in it." }),
    samples: z.array(nodeSample).meta({
      description: "One for each 15 s, the oldest first. There is none of times in which the database was away.",
    }),
  })
  .meta({
    id: "NodeHistory",
    description:
      "The last 30 minutes of all nodes together, as the node that answers has seen them. It is in memory, so it begins when that node started.",
  });

/** The last 30 minutes of all nodes together. */
export type NodeHistory = z.infer<typeof nodeHistory>;

/** All nodes by id, which is the order in which they started. */
export const nodeList = z
  .strictObject({
    items: z.array(node),
    history: nodeHistory.optional().meta({ description: "Only with `history=true`." }),
  })
  .meta({ id: "NodeList" });

/** The query of the list of nodes. */
export const nodesQuery = z.strictObject({
  history: queryFlag("`true` also returns the last 30 minutes of all nodes together."),
});
