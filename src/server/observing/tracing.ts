import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { ExportResultCode, parseTraceParent } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { about } from "../../contract/documents/about.ts";
import { toHeraldError } from "../../contract/errors/errors.ts";
import type { CommitMark, LogEvent } from "../../contract/log/log-event.ts";
import type { Call, TraceCall } from "../../http/calls.ts";
import type { NewSend } from "../../store/ports.ts";

const exportEveryMs = 1_000;
const exportMayTakeMs = 5_000;

type Options = {
  /** The OTLP/HTTP endpoint, without `/v1/traces`. */
  url: string;
  /** The share of calls to trace whose callers do not say. */
  ratio: number;
  node: { id: string; name: string | undefined };
  /** Removes credentials from a text. */
  redact(text: string): string;
  /** Called for the first of consecutive failed exports, and when one succeeds again. */
  onError(error: unknown): void;
  onRecovery(): void;
};

/**
 * Creates tracing of calls by spans: the request, its commit, its publication, and its play on each node. A call that
 * is not sampled costs one header lookup. The context travels with the event between nodes, but never to recipients.
 */
export function createTracing({ url, ratio, node, redact, onError, onRecovery }: Options) {
  const provider = new TracerProvider({
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    resource: resourceFromAttributes({
      "service.name": "herald",
      "service.version": about.version,
      "service.instance.id": node.id,
      ...(node.name !== undefined && { "herald.node.name": node.name }),
    }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: tellingOutages(
          new OTLPTraceExporter({ url: `${url.replace(/\/+$/, "")}/v1/traces`, timeoutMillis: exportMayTakeMs }),
          { redact, onError, onRecovery },
        ),
        scheduledDelayMillis: exportEveryMs,
      }),
    ],
  });
  const tracer = provider.getTracer("herald", about.version);
  const active = new AsyncLocalStorage<{ request: Span; commit: Span | undefined }>();
  const commits = new WeakMap<NewSend, Span>();

  function begin(name: string, kind: SpanKind, parent: Context): Span {
    return tracer.startSpan(name, { kind }, parent);
  }

  const traceCall: TraceCall = async (request, call, answer) => {
    const header = request.headers.get("traceparent");
    if (header === null && ratio === 0) return await answer();
    const span = begin("request", SpanKind.SERVER, contextOf(header ?? ""));
    if (!span.isRecording()) return await answer();
    const spans = { request: span, commit: undefined };
    try {
      const response = await active.run(spans, answer);
      endRequest(spans, call, response?.status ?? 101);
      return response;
    } catch (thrown) {
      endRequest(spans, call, toHeraldError(thrown).status);
      throw thrown;
    }
  };

  return {
    traceCall,
    /** Begins the span of a send's commit. */
    onAppend(send: NewSend): void {
      const spans = active.getStore();
      if (spans === undefined) return;
      spans.commit = begin("commit", SpanKind.INTERNAL, trace.setSpan(ROOT_CONTEXT, spans.request));
      commits.set(send, spans.commit);
    },
    /** Ends the span of a send's commit; its mark continues the trace, if there is one. */
    onCommit(send: NewSend, batchSize: number, mark: CommitMark): CommitMark {
      const span = commits.get(send);
      if (span === undefined) return mark;
      span.setAttribute("herald.commit.batch_size", batchSize).end();
      return { ...mark, trace: traceParentOf(span) };
    },
    /** Publishes events, those with a trace inside a span. */
    publish(events: LogEvent[], publish: (events: LogEvent[]) => void): void {
      const spans: Span[] = [];
      const traced = events.map((event) => {
        const { committed } = event;
        if (committed?.trace === undefined) return event;
        const span = begin("publish", SpanKind.PRODUCER, contextOf(committed.trace));
        span.setAttributes(attributesOf(event));
        spans.push(span);
        return { ...event, committed: { ...committed, trace: traceParentOf(span) } };
      });
      publish(traced);
      for (const span of spans) span.end();
    },
    /** Plays an event, inside a span if it has a trace. `play` returns the number of connections it was handed to. */
    play(event: LogEvent, play: () => number): void {
      const parent = event.committed?.trace;
      if (parent === undefined) return void play();
      const span = begin("play", SpanKind.CONSUMER, contextOf(parent));
      const connections = play();
      span.setAttributes({ ...attributesOf(event), "herald.deliveries": connections }).end();
    },
    /** Exports what is left. */
    stop: () => provider.shutdown(),
  };
}

/** The tracing of one node. */
export type Tracing = ReturnType<typeof createTracing>;

function endRequest(spans: { request: Span; commit: Span | undefined }, call: Call, status: number): void {
  const { request, commit } = spans;
  const { route, requestId, keyId, org } = call;
  // Still open only if its commit failed.
  if (commit?.isRecording()) commit.setStatus({ code: SpanStatusCode.ERROR }).end();
  request.updateName(`${route.method} ${route.path}`).setAttributes({
    "http.request.method": route.method,
    "http.route": route.path,
    "http.response.status_code": status,
    "herald.request_id": requestId,
    ...(keyId !== undefined && { "herald.key_id": keyId }),
    ...(org !== undefined && { "herald.organization": org }),
  });
  if (status >= 500) request.setStatus({ code: SpanStatusCode.ERROR });
  request.end();
}

function attributesOf({ org, offset, kind, id }: LogEvent) {
  return { "herald.organization": org, "herald.offset": offset, "herald.kind": kind, "herald.event_id": id };
}

/** Parses a `traceparent` (W3C Trace Context, section 3.2); returns an empty context if it is invalid. */
function contextOf(traceParent: string): Context {
  const parent = parseTraceParent(traceParent);
  return parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true });
}

function traceParentOf(span: Span): string {
  const { traceId, spanId } = span.spanContext();
  return `00-${traceId}-${spanId}-01`;
}

type Telling = Pick<Options, "redact" | "onError" | "onRecovery">;

/**
 * Wraps an exporter, which hides errors, to report each outage once. Also removes credentials from what is exported.
 */
function tellingOutages(exporter: SpanExporter, { redact, onError, onRecovery }: Telling) {
  let isFailing = false;
  const telling: SpanExporter = {
    export(spans, onResult) {
      for (const { attributes } of spans) redactAll(attributes, redact);
      exporter.export(spans, (result) => {
        const hasFailed = result.code !== ExportResultCode.SUCCESS;
        if (hasFailed && !isFailing) onError(result.error);
        if (!hasFailed && isFailing) onRecovery();
        isFailing = hasFailed;
        onResult(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => await exporter.forceFlush?.(),
  };
  return telling;
}

function redactAll(attributes: Attributes, redact: Options["redact"]): void {
  for (const [name, value] of Object.entries(attributes))
    if (typeof value === "string") attributes[name] = redact(value);
}
