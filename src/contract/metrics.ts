/** A metric of `GET /metrics`: its type, what it says, and its labels, whose values are few and never an organization or a user. */
export type MetricDescription = { type: "counter" | "gauge" | "histogram"; help: string; labels?: readonly string[] };

/** Every metric, in the order in which they are shown. Names and units follow the conventions of Prometheus. */
export const metricCatalogue = {
  herald_build_info: {
    type: "gauge",
    labels: ["version", "bun"],
    help: "Always 1; the labels say what runs.",
  },
  herald_node_info: {
    type: "gauge",
    labels: ["node", "name"],
    help: "Always 1; the id of the node, as in GET /admin/nodes, and HERALD_NODE_NAME.",
  },
  herald_worker_up: {
    type: "gauge",
    help: "1 if the worker told its figures, 0 if it did not within a second. Only with --workers.",
  },
  herald_sends_total: {
    type: "counter",
    labels: ["operation", "result"],
    help: "Calls that send, by operation (message, system_message) and result: stored, replayed (a retry), dry_run, refused (4xx), failed (5xx).",
  },
  herald_commit_batch_size: {
    type: "histogram",
    help: "How many sends went into one commit.",
  },
  herald_commit_duration_seconds: {
    type: "histogram",
    help: "How long a commit of sends took, flush included.",
  },
  herald_deliveries_total: {
    type: "counter",
    labels: ["kind"],
    help: "Messages and system messages (kind: message, system_message) handed to connections: one for each connection.",
  },
  herald_delivery_latency_seconds: {
    type: "histogram",
    labels: ["via"],
    help: "From the commit of a message to its delivery, one for each delivery, by the way that it came: own (committed by this node), bus (by another: as exact as the clocks of the two agree), store (read from the database, since the bus had not brought it).",
  },
  herald_sequencer_lag_events: {
    type: "gauge",
    help: "How many stored events the organization that was the most behind had not yet heard when the heads were last compared, every 5 s.",
  },
  herald_repairs_total: {
    type: "counter",
    help: "Reads of the database that brought what the bus had not, or had brought faster than it could be kept.",
  },
  herald_log_breaks_total: {
    type: "counter",
    help: "How often the log of an organization was not the one any more that was played, as after a failover to a standby that lagged or the restore of a backup: its connections were closed with 1012.",
  },
  herald_events_passed_over_total: {
    type: "counter",
    help: "Events that were played to nobody, since what the database holds of them is not what Herald wrote; the log of the node names each.",
  },
  herald_connections: {
    type: "gauge",
    labels: ["transport"],
    help: "Open connections: websocket, sse.",
  },
  herald_organizations: {
    type: "gauge",
    help: "Organizations that have connections here.",
  },
  herald_held: {
    type: "gauge",
    labels: ["what"],
    help: "What the node holds for its connections: places of addresses and of users, listeners, timers, sequencers, bytes that wait, and so on. A value that stays while nobody is connected is a leak: report it.",
  },
  herald_slow_consumers_cut_total: {
    type: "counter",
    help: "Connections that were cut, or hung up, while bytes waited for them.",
  },
  herald_bus_connected: {
    type: "gauge",
    help: "1 while the bus between the nodes is there, 0 while it is not. Absent without HERALD_BUS_URL.",
  },
  herald_bus_hints_dropped_total: {
    type: "counter",
    labels: ["reason"],
    help: "Texts on the bus that were dropped, by reason: unsigned, forged (signed by no node of this database, or for another place), unreadable (another version), repeated (a question that was asked before). Somebody else publishes there. Absent without HERALD_BUS_URL.",
  },
  herald_event_loop_delay_seconds: {
    type: "histogram",
    help: "How late the process got round to what was due, looked at 50 times a second.",
  },
  herald_http_requests_total: {
    type: "counter",
    labels: ["route", "method", "status"],
    help: "Answered requests; of /ws and /sse those that open a connection. What is no route is counted as unmatched.",
  },
  herald_http_request_duration_seconds: {
    type: "histogram",
    labels: ["route", "method"],
    help: "How long an answer took; of /ws and /sse how long opening took.",
  },
  process_cpu_seconds_total: {
    type: "counter",
    help: "CPU time of the process with all its threads.",
  },
  process_resident_memory_bytes: {
    type: "gauge",
    help: "Memory of the process.",
  },
  process_heap_used_bytes: {
    type: "gauge",
    help: "Memory of its JavaScript objects; sockets and buffers are not among it.",
  },
  process_open_fds: {
    type: "gauge",
    help: "Open files and sockets.",
  },
  process_max_fds: {
    type: "gauge",
    help: "How many it may open.",
  },
  process_start_time_seconds: {
    type: "gauge",
    help: "When it started, as Unix time.",
  },
} as const satisfies Record<string, MetricDescription>;

/** The name of a metric. */
export type MetricName = keyof typeof metricCatalogue;

/** One value of a metric; `metricName` where it differs from the metric's, as in a histogram. */
export type MetricSample = { labels: Record<string, string>; value: number; metricName?: string };

/** A metric with its values, as one process tells them. */
export type MetricFamily = { name: MetricName; values: MetricSample[] };
