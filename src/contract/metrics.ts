/** A metric of `GET /metrics`: its type, help text and labels. Labels have few values and never name an organization or a user. */
export type MetricDescription = { type: "counter" | "gauge" | "histogram"; help: string; labels: readonly string[] };

const metric =
  (type: MetricDescription["type"]) =>
  (help: string, ...labels: string[]): MetricDescription => ({ type, help, labels });
const counter = metric("counter");
const gauge = metric("gauge");
const histogram = metric("histogram");

/** Every metric, in output order. Names and units follow the Prometheus conventions. */
export const metricCatalogue = {
  herald_build_info: gauge("Always 1. The labels give the versions of Herald and Bun.", "version", "bun"),
  herald_node_info: gauge(
    "Always 1. The labels give the node's id, as in GET /admin/nodes, and its HERALD_NODE_NAME.",
    "node",
    "name",
  ),
  herald_worker_up: gauge("1 if the worker reported its metrics within a second, 0 otherwise. Only with --workers."),
  herald_sends_total: counter(
    "Send requests, by operation (message, system_message) and result: stored, replayed (a retry), dry_run, refused (4xx), failed (5xx).",
    "operation",
    "result",
  ),
  herald_commit_batch_size: histogram("Number of sends in one commit."),
  herald_commit_duration_seconds: histogram("Duration of a commit of sends, including the flush."),
  herald_database_size_bytes: gauge(
    "Size of the database. engine=sqlite: its file, which keeps its size when data is removed and reuses the room. engine=postgresql: all of its tables and indexes, the same value on every node. Read every 5 s or less often; absent while it cannot be read.",
    "engine",
  ),
  herald_database_wal_bytes: gauge(
    "Size of the write-ahead log. engine=sqlite: the file herald.db-wal. engine=postgresql: pg_wal of the server, the same value on every node; absent unless the database user is a member of pg_monitor.",
    "engine",
  ),
  herald_disk_free_bytes: gauge(
    "Bytes that Herald may still write to the disk that holds HERALD_DATA_DIR. That is the disk of the database only with SQLite: the disk of a PostgreSQL server must be watched there.",
  ),
  herald_disk_size_bytes: gauge("Size of the disk that holds HERALD_DATA_DIR."),
  herald_oldest_job_age_seconds: gauge(
    "How long the oldest data that is due for removal has been waiting for it, by kind: deleted (contents of deleted organizations and conversations), messages, ids (retry ids), audit; 0 if none is due. A node looks for such data every minute, so up to two minutes are normal. Nodes on one database report the same. Read every 5 s or less often; absent while it cannot be read.",
    "kind",
  ),
  herald_oldest_send_age_seconds: gauge(
    "How long the oldest send of this node has been waiting for its commit; 0 if none is waiting. It grows while the database hangs.",
  ),
  herald_scheduled_sends_total: counter(
    "Scheduled sends that this node took up when they were due, by result: sent, failed (they could not be sent any more).",
    "result",
  ),
  herald_scheduled_waiting: gauge(
    "Scheduled sends that wait for their time. Nodes on one database report the same. Read every 5 s or less often; absent while it cannot be read.",
  ),
  herald_scheduled_overdue_seconds: gauge(
    "How long the organization that has waited longest for its due scheduled sends has been waiting for a node; 0 if none is due. What waits for its organization's rate limit does not count. Nodes on one database report the same. Read every 5 s or less often; absent while it cannot be read.",
  ),
  herald_webhook_tries_total: counter(
    "Posts to webhooks that this node made, by result: delivered, failed (they are tried again, ten times over three days). Tests do not count.",
    "result",
  ),
  herald_webhook_given_up_total: counter(
    "Deliveries to webhooks that failed for good on this node: their tries are used up, or the receiver answered 410. They can be redelivered for 30 days.",
  ),
  herald_webhook_disabled_total: counter("Webhooks that this node switched off because their receivers answered 410."),
  herald_webhook_overdue_seconds: gauge(
    "How long the event that is due first for a webhook has been waiting for a node to find out who was not reached; 0 if none is due. Slow receivers do not count. Nodes on one database report the same. Read every 5 s or less often; absent while it cannot be read.",
  ),
  herald_file_uploads_total: counter(
    "Uploads of files to this node, by result: stored, refused (too large, no room, cut by the caller), failed (the store of files is away or full).",
    "result",
  ),
  herald_file_stored_bytes_total: counter(
    "Bytes of the uploads that this node stored. The same content again counts, though it is stored once.",
  ),
  herald_file_upload_duration_seconds: histogram(
    "Duration of each upload that was stored, from its first byte to its commit; as slow as the caller.",
  ),
  herald_file_store_failures_total: counter(
    "What the folder or bucket of files could not do for this node, by operation: write, read, remove.",
    "operation",
  ),
  herald_outbox_sends_total: counter(
    "Rows of the outbox that this node took, by result: sent, refused (they are kept in herald.outbox_refused with the reason). Only with HERALD_OUTBOX_URL.",
    "result",
  ),
  herald_outbox_lag_seconds: gauge(
    "How long the oldest committed row of the outbox has been waiting; 0 if none is. Nodes with one outbox report the same. Only with HERALD_OUTBOX_URL. Read every 5 s or less often; absent while it cannot be read.",
  ),
  herald_deliveries_total: counter(
    "Deliveries to connections, by kind (message, system_message, message_edit, message_delete, system_message_delete, message_read, system_message_read, message_reactions_update). A message delivered to two connections counts twice.",
    "kind",
  ),
  herald_delivery_latency_seconds: histogram(
    "Time from the commit of a message to each delivery, by path: own (committed by this node), bus (committed by another node, so only as accurate as the two clocks agree), store (read from the database because the bus did not deliver it).",
    "via",
  ),
  herald_sequencer_lag_events: gauge(
    "Stored events not yet delivered, for the organization that is furthest behind. Checked every 5 s.",
  ),
  herald_repairs_total: counter(
    "Reads of the database for events that the bus lost, or delivered faster than the node could buffer them.",
  ),
  herald_log_breaks_total: counter(
    "Times that an organization's log no longer matched the events already delivered, for example after a failover to a lagging standby or a restore from a backup. The organization's connections are closed with 1012.",
  ),
  herald_events_passed_over_total: counter(
    "Events skipped because their stored data is not what Herald wrote. The node's log names each one.",
  ),
  herald_connections: gauge("Open connections, by transport (websocket, sse).", "transport"),
  herald_organizations: gauge("Organizations with connections to this node."),
  herald_held: gauge(
    "Resources held for connections, such as connection slots of addresses and users, listeners, timers, sequencers and backlog bytes. A value that stays above 0 while nobody is connected is a leak: report it.",
    "what",
  ),
  herald_slow_consumers_cut_total: counter(
    "Connections that ended, dropped by Herald or closed by the client, while bytes were waiting for them.",
  ),
  herald_bus_connected: gauge(
    "1 while the node is connected to the bus, 0 otherwise. Absent if the node is the only one.",
  ),
  herald_bus_hints_dropped_total: counter(
    "Bus messages dropped, by reason: unsigned, forged (not signed by a node of this database, or signed for another subject), unreadable (from another version), repeated (a request seen before). If it grows, something else is publishing on the bus. Absent if the node is the only one.",
    "reason",
  ),
  herald_clock_offset_seconds: gauge(
    "How far this machine's clock is ahead of the database's, compared at each heartbeat, every 2 s; negative if it is behind. Absent with SQLite. A node warns once it is off by more than 2 s.",
  ),
  herald_log_lines_dropped_total: counter(
    "Lines of this process's log that were dropped because nobody read its output, or it is closed.",
  ),
  herald_event_loop_delay_seconds: histogram("Event loop delay: how late due work ran. Sampled 50 times a second."),
  herald_http_requests_total: counter(
    "Requests answered. For /ws and /sse, requests that opened a connection. Requests that match no route count as unmatched.",
    "route",
    "method",
    "status",
  ),
  herald_http_request_duration_seconds: histogram(
    "Time to respond to a request, without the time that a caller asked it to wait (`Prefer: wait`). For /ws and /sse, time to open the connection.",
    "route",
    "method",
  ),
  process_cpu_seconds_total: counter("CPU time used by the process, including all its threads."),
  process_resident_memory_bytes: gauge("Resident memory of the process."),
  process_heap_used_bytes: gauge("Memory used by JavaScript objects, excluding sockets and buffers."),
  process_open_fds: gauge("Open files and sockets."),
  process_max_fds: gauge("Maximum number of open files and sockets."),
  process_start_time_seconds: gauge("Start time of the process, in Unix time."),
} satisfies Record<string, MetricDescription>;

/** The name of a metric. */
export type MetricName = keyof typeof metricCatalogue;

/** One value of a metric. `metricName` is set where it differs from the metric's name, as in a histogram. */
export type MetricSample = { labels: Record<string, string>; value: number; metricName?: string };

/** A metric with its values, as one process reports them. */
export type MetricFamily = { name: MetricName; values: MetricSample[] };
