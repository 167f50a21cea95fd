import { readdirSync, readFileSync } from "node:fs";
import { AggregatorRegistry, Registry } from "prom-client";
import type { Bus } from "../../bus/bus.ts";
import { about } from "../../contract/documents/about.ts";
import { type MetricFamily, type MetricName, type MetricSample, metricCatalogue } from "../../contract/metrics.ts";
import { createRecentCopy } from "../../lib/caches/recent-copy.ts";
import type { Histogram } from "../../lib/observing/histogram.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { Context } from "../context.ts";
import type { Gateway } from "../gateway.ts";
import type { Figures } from "./figures.ts";
import type { Gauges } from "./gauges.ts";

const maxAgeMs = 1_000;

/** The inputs of a measurement. */
type Measured = {
  figures: Figures;
  gateway: Gateway;
  bus: Bus;
  gauges: Gauges;
  clockOffsetMs: number | undefined;
};

/** The media type of the metrics. */
export const metricsType = Registry.PROMETHEUS_CONTENT_TYPE;

/** One value of a metric. `suffix` follows the metric's name, as in a histogram. */
type Sample = Omit<MetricSample, "metricName"> & { suffix?: string };

/** Returns every metric of this process; those of a worker carry its number. */
export function measure({ config, nodeId, worker }: Context, measured: Measured): MetricFamily[] {
  const { figures, gateway, bus, gauges, clockOffsetMs } = measured;
  const { sends, commits, webhooks, files, outbox } = figures;
  const { deliveries, latency, ...counts } = figures.gateway;
  const { database, disk, jobs, scheduled, webhooksMs, outboxMs } = gauges;
  const { organizations, lag } = gateway.activity();
  const calls = [...figures.calls.values()];
  const engine = { engine: database?.engine ?? "" };
  const hasBus = bus.state() !== "none";
  const metrics: Partial<Record<MetricName, Sample[]>> = {
    herald_build_info: one(1, { version: about.version, bun: Bun.version }),
    herald_node_info: one(1, { node: nodeId, name: config.HERALD_NODE_NAME ?? "" }),
    herald_sends_total: Object.entries(sends).flatMap(([operation, results]) => each(results, "result", { operation })),
    herald_commit_batch_size: buckets(commits.sizes, 1),
    herald_commit_duration_seconds: seconds(commits.durations),
    herald_database_size_bytes: one(database?.bytes, engine),
    herald_database_wal_bytes: one(database?.logBytes, engine),
    herald_disk_free_bytes: one(disk?.freeBytes),
    herald_disk_size_bytes: one(disk?.sizeBytes),
    herald_oldest_job_age_seconds: Object.entries(jobs ?? {}).flatMap(([kind, waitMs]) => one(waitMs / 1000, { kind })),
    herald_oldest_send_age_seconds: one(gauges.oldestSendMs / 1000),
    herald_scheduled_sends_total: each(figures.scheduled, "result"),
    herald_scheduled_waiting: one(scheduled?.waiting),
    herald_scheduled_overdue_seconds: one(scheduled && scheduled.overdueMs / 1000),
    herald_webhook_tries_total: each({ delivered: webhooks.delivered, failed: webhooks.failed }, "result"),
    herald_webhook_given_up_total: one(webhooks.givenUp),
    herald_webhook_disabled_total: one(webhooks.disabled),
    herald_webhook_overdue_seconds: one(webhooksMs && webhooksMs / 1000),
    herald_file_uploads_total: each(files.uploads, "result"),
    herald_file_stored_bytes_total: one(files.storedBytes),
    herald_file_upload_duration_seconds: seconds(files.durations),
    herald_file_store_failures_total: each(files.failures, "operation"),
    ...(outbox && {
      herald_outbox_sends_total: each(outbox, "result"),
      herald_outbox_lag_seconds: one(outboxMs && outboxMs / 1000),
    }),
    herald_deliveries_total: each(deliveries, "kind"),
    herald_delivery_latency_seconds: Object.entries(latency).flatMap(([via, spans]) => seconds(spans, { via })),
    herald_sequencer_lag_events: one(lag.events),
    herald_repairs_total: one(counts.repairs),
    herald_log_breaks_total: one(counts.breaks),
    herald_events_passed_over_total: one(counts.passedOver),
    herald_connections: each({ websocket: gateway.count("websocket"), sse: gateway.count("sse") }, "transport"),
    herald_organizations: one(organizations),
    herald_held: each(gateway.held(), "what"),
    herald_slow_consumers_cut_total: one(counts.slowConsumersCut),
    herald_bus_connected: hasBus ? one(bus.state() === "up" ? 1 : 0) : [],
    herald_bus_hints_dropped_total: hasBus ? each(bus.dropped, "reason") : [],
    herald_clock_offset_seconds: one(clockOffsetMs && clockOffsetMs / 1000),
    herald_log_lines_dropped_total: one(figures.log.droppedLines),
    herald_event_loop_delay_seconds: seconds(figures.eventLoopDelays),
    herald_http_requests_total: calls.flatMap(({ path: route, method, statuses }) =>
      [...statuses].flatMap(([status, value]) => one(value, { route, method, status: String(status) })),
    ),
    herald_http_request_duration_seconds: calls.flatMap(({ path: route, method, durations }) =>
      seconds(durations, { route, method }),
    ),
    ...measureProcess(),
  };
  const own = worker === undefined ? {} : { worker: String(worker) };
  return Object.entries(metrics).map(([name, samples]) => ({
    name: name as MetricName,
    values: samples.map(({ labels, value, suffix }) => ({
      labels: { ...own, ...labels },
      value,
      ...(suffix !== undefined && { metricName: name + suffix }),
    })),
  }));
}

/** Formats metrics for Prometheus, of one process or of several whose labels distinguish them. */
async function printMetrics(processes: MetricFamily[][]): Promise<string> {
  const described = processes.map((families) =>
    families.map(({ name, values }) => ({ name, values, aggregator: "first", ...metricCatalogue[name] })),
  );
  return await AggregatorRegistry.aggregate(described).metrics();
}

/**
 * Creates a function that prints the metrics that `gather` returns, cached for a second: printing takes milliseconds,
 * and strangers may ask.
 */
export function createScrape(gather: () => Promise<MetricFamily[][]>, clock: Clock): () => Promise<string> {
  return createRecentCopy(async () => await printMetrics(await gather()), { maxAgeMs, clock });
}

/** Reads the process metrics. Open files are counted on Linux only. */
function measureProcess() {
  const { rss, heapUsed } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  return {
    process_cpu_seconds_total: one((user + system) / 1e6),
    process_resident_memory_bytes: one(rss),
    process_heap_used_bytes: one(heapUsed),
    ...(process.platform === "linux" && openFiles()),
    process_start_time_seconds: one(performance.timeOrigin / 1000),
  };
}

function openFiles() {
  const limit = /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
  return {
    process_open_fds: one(readdirSync("/proc/self/fd").length - 1), // the folder itself is open during the read
    ...(limit !== undefined && { process_max_fds: one(Number(limit)) }),
  };
}

/** The only value of a metric; none if it is not known. */
function one(value: number | undefined, labels: Sample["labels"] = {}): Sample[] {
  return value === undefined ? [] : [{ labels, value }];
}

/** A value for each count: its name is what `label` says. */
function each(counts: Record<string, number>, label: string, labels: Sample["labels"] = {}): Sample[] {
  return Object.entries(counts).map(([name, value]) => ({ labels: { ...labels, [label]: name }, value }));
}

/** Converts a histogram of milliseconds to seconds. */
function seconds(spans: Histogram, labels?: Sample["labels"]): Sample[] {
  return buckets(spans, 1000, labels);
}

function buckets(histogram: Histogram, perUnit: number, labels: Sample["labels"] = {}): Sample[] {
  const { count, sum } = histogram;
  return [
    ...histogram.cumulative().map((bucket) => ({
      suffix: "_bucket",
      labels: { ...labels, le: String(Number((bucket.upTo / perUnit).toPrecision(6))) },
      value: bucket.count,
    })),
    { suffix: "_bucket", labels: { ...labels, le: "+Inf" }, value: count },
    { suffix: "_sum", labels, value: sum / perUnit },
    { suffix: "_count", labels, value: count },
  ];
}
