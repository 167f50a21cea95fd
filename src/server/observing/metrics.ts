import { readdirSync, readFileSync } from "node:fs";
import { AggregatorRegistry, Registry } from "prom-client";
import type { Bus } from "../../bus/bus.ts";
import { about } from "../../contract/documents/about.ts";
import { type MetricFamily, type MetricName, type MetricSample, metricCatalogue } from "../../contract/metrics.ts";
import { createRecentCopy } from "../../lib/caches/recent-copy.ts";
import type { Histogram } from "../../lib/observing/histogram.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { FileFigures } from "../../services/files/file-figures.ts";
import type { PostFigures } from "../../services/webhooks/posting.ts";
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

function measureWebhooks({ delivered, failed, givenUp, disabled }: PostFigures, overdueMs: number | undefined) {
  return [
    family(
      "herald_webhook_tries_total",
      each({ delivered, failed }, (result) => ({ result })),
    ),
    family("herald_webhook_given_up_total", one({}, givenUp)),
    family("herald_webhook_disabled_total", one({}, disabled)),
    family("herald_webhook_overdue_seconds", oneIf(overdueMs && overdueMs / 1000)),
  ];
}

function measureFiles({ uploads, storedBytes, durations, failures }: FileFigures): MetricFamily[] {
  return [
    family(
      "herald_file_uploads_total",
      each(uploads, (result) => ({ result })),
    ),
    family("herald_file_stored_bytes_total", one({}, storedBytes)),
    family("herald_file_upload_duration_seconds", seconds("herald_file_upload_duration_seconds", durations)),
    family(
      "herald_file_store_failures_total",
      each(failures, (operation) => ({ operation })),
    ),
  ];
}

/** Returns every metric of this process; those of a worker carry its number. */
export function measure({ config, nodeId, worker }: Context, measured: Measured): MetricFamily[] {
  const { figures, gateway, bus, gauges, clockOffsetMs } = measured;
  const { sends, commits, calls, eventLoopDelays } = figures;
  const { deliveries, latency, ...counts } = figures.gateway;
  const { organizations, lag } = gateway.activity();
  const hasBus = bus.state() !== "none";
  const families: MetricFamily[] = [
    family("herald_build_info", one({ version: about.version, bun: Bun.version }, 1)),
    family("herald_node_info", one({ node: nodeId, name: config.HERALD_NODE_NAME ?? "" }, 1)),
    family(
      "herald_sends_total",
      Object.entries(sends).flatMap(([operation, results]) => each(results, (result) => ({ operation, result }))),
    ),
    family("herald_commit_batch_size", buckets("herald_commit_batch_size", commits.sizes, 1)),
    family("herald_commit_duration_seconds", seconds("herald_commit_duration_seconds", commits.durations)),
    ...measureGauges(gauges),
    family(
      "herald_scheduled_sends_total",
      each(figures.scheduled, (result) => ({ result })),
    ),
    family("herald_scheduled_waiting", oneIf(gauges.scheduled?.waiting)),
    family("herald_scheduled_overdue_seconds", oneIf(gauges.scheduled && gauges.scheduled.overdueMs / 1000)),
    ...measureWebhooks(figures.webhooks, gauges.webhooksMs),
    ...measureFiles(figures.files),
    ...(figures.outbox === undefined
      ? []
      : [
          family(
            "herald_outbox_sends_total",
            each(figures.outbox, (result) => ({ result })),
          ),
          family("herald_outbox_lag_seconds", oneIf(gauges.outboxMs && gauges.outboxMs / 1000)),
        ]),
    family(
      "herald_deliveries_total",
      each(deliveries, (kind) => ({ kind })),
    ),
    family(
      "herald_delivery_latency_seconds",
      Object.entries(latency).flatMap(([via, spans]) => seconds("herald_delivery_latency_seconds", spans, { via })),
    ),
    family("herald_sequencer_lag_events", one({}, lag.events)),
    family("herald_repairs_total", one({}, counts.repairs)),
    family("herald_log_breaks_total", one({}, counts.breaks)),
    family("herald_events_passed_over_total", one({}, counts.passedOver)),
    family(
      "herald_connections",
      each({ websocket: gateway.count("websocket"), sse: gateway.count("sse") }, (transport) => ({ transport })),
    ),
    family("herald_organizations", one({}, organizations)),
    family(
      "herald_held",
      each(gateway.held(), (what) => ({ what })),
    ),
    family("herald_slow_consumers_cut_total", one({}, counts.slowConsumersCut)),
    family("herald_bus_connected", hasBus ? one({}, bus.state() === "up" ? 1 : 0) : []),
    family("herald_bus_hints_dropped_total", hasBus ? each(bus.dropped, (reason) => ({ reason })) : []),
    family("herald_clock_offset_seconds", oneIf(clockOffsetMs && clockOffsetMs / 1000)),
    family("herald_log_lines_dropped_total", one({}, figures.log.droppedLines)),
    family("herald_event_loop_delay_seconds", seconds("herald_event_loop_delay_seconds", eventLoopDelays)),
    family(
      "herald_http_requests_total",
      [...calls.values()].flatMap(({ path: route, method, statuses }) =>
        [...statuses].map(([status, value]) => ({ labels: { route, method, status: String(status) }, value })),
      ),
    ),
    family(
      "herald_http_request_duration_seconds",
      [...calls.values()].flatMap(({ path: route, method, durations }) =>
        seconds("herald_http_request_duration_seconds", durations, { route, method }),
      ),
    ),
    ...Object.entries(measureProcess()).map(([name, value]) => family(name as MetricName, one({}, value))),
  ];
  if (worker === undefined) return families;
  return families.map(({ name, values }) => ({
    name,
    values: values.map((sample) => ({ ...sample, labels: { worker: String(worker), ...sample.labels } })),
  }));
}

function measureGauges({ database, disk, jobs, oldestSendMs }: Gauges): MetricFamily[] {
  const engine = { engine: database?.engine ?? "" };
  return [
    family("herald_database_size_bytes", oneIf(database?.bytes, engine)),
    family("herald_database_wal_bytes", oneIf(database?.logBytes, engine)),
    family("herald_disk_free_bytes", oneIf(disk?.freeBytes)),
    family("herald_disk_size_bytes", oneIf(disk?.sizeBytes)),
    family(
      "herald_oldest_job_age_seconds",
      Object.entries(jobs ?? {}).map(([kind, waitMs]) => ({ labels: { kind }, value: waitMs / 1000 })),
    ),
    family("herald_oldest_send_age_seconds", one({}, oldestSendMs / 1000)),
  ];
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

/** Reads the process metrics, by their Prometheus names. Open files are counted on Linux only. */
function measureProcess() {
  const { rss, heapUsed } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  return {
    process_cpu_seconds_total: (user + system) / 1e6,
    process_resident_memory_bytes: rss,
    process_heap_used_bytes: heapUsed,
    ...(process.platform === "linux" && openFiles()),
    process_start_time_seconds: performance.timeOrigin / 1000,
  };
}

function openFiles() {
  const limit = /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
  return {
    process_open_fds: readdirSync("/proc/self/fd").length - 1, // the folder itself is open during the read
    ...(limit !== undefined && { process_max_fds: Number(limit) }),
  };
}

function family(name: MetricName, values: MetricSample[]): MetricFamily {
  return { name, values };
}

function one(labels: MetricSample["labels"], value: number): MetricSample[] {
  return [{ labels, value }];
}

function oneIf(value: number | undefined, labels: MetricSample["labels"] = {}): MetricSample[] {
  return value === undefined ? [] : one(labels, value);
}

function each(counts: Record<string, number>, labelsOf: (name: string) => MetricSample["labels"]): MetricSample[] {
  return Object.entries(counts).map(([name, value]) => ({ labels: labelsOf(name), value }));
}

/** Converts a histogram of milliseconds to seconds. */
function seconds(name: MetricName, spans: Histogram, labels: MetricSample["labels"] = {}): MetricSample[] {
  return buckets(name, spans, 1000, labels);
}

function buckets(
  name: MetricName,
  histogram: Histogram,
  perUnit: number,
  labels: MetricSample["labels"] = {},
): MetricSample[] {
  const { count, sum } = histogram;
  return [
    ...histogram.cumulative().map((bucket) => ({
      metricName: `${name}_bucket`,
      labels: { ...labels, le: String(Number((bucket.upTo / perUnit).toPrecision(6))) },
      value: bucket.count,
    })),
    { metricName: `${name}_bucket`, labels: { ...labels, le: "+Inf" }, value: count },
    { metricName: `${name}_sum`, labels, value: sum / perUnit },
    { metricName: `${name}_count`, labels, value: count },
  ];
}
