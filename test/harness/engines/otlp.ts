import { z } from "zod";
import { eventually } from "../deadline.ts";

const value = z.object({ stringValue: z.string().optional(), intValue: z.union([z.number(), z.string()]).optional() });
const attributes = z.array(z.object({ key: z.string(), value }));
const exported = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes }),
      scopeSpans: z.array(
        z.object({
          spans: z.array(
            z.object({
              traceId: z.string(),
              spanId: z.string(),
              parentSpanId: z.string().optional(),
              name: z.string(),
              kind: z.number(),
              status: z.object({ code: z.number().optional() }).optional(),
              attributes,
              startTimeUnixNano: z.string(),
              endTimeUnixNano: z.string(),
            }),
          ),
        }),
      ),
    }),
  ),
});

/** A span as received by a collector. Times in milliseconds. */
export type ReceivedSpan = {
  traceId: string;
  spanId: string;
  parentSpanId: string | undefined;
  name: string;
  isError: boolean;
  /** The `herald.node.name` of its node. */
  node: string | number | undefined;
  attributes: Record<string, string | number | undefined>;
  startMs: number;
  endMs: number;
};

const errorCode = 2;

function read(list: z.infer<typeof attributes>): ReceivedSpan["attributes"] {
  return Object.fromEntries(
    list.map(({ key, value: { stringValue, intValue } }) => [
      key,
      intValue === undefined ? stringValue : Number(intValue),
    ]),
  );
}

/** Starts a trace collector: OTLP over HTTP with JSON, on a port of its own. */
export function startCollector() {
  const spans: ReceivedSpan[] = [];
  let lastHeaders = new Headers();
  let isBroken = false;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      lastHeaders = request.headers;
      if (new URL(request.url).pathname !== "/v1/traces" || isBroken) return new Response(null, { status: 400 });
      for (const { resource, scopeSpans } of exported.parse(await request.json()).resourceSpans) {
        const node = read(resource.attributes)["herald.node.name"];
        for (const span of scopeSpans.flatMap((scope) => scope.spans))
          spans.push({
            traceId: span.traceId,
            spanId: span.spanId,
            parentSpanId: span.parentSpanId || undefined,
            name: span.name,
            isError: span.status?.code === errorCode,
            node,
            attributes: read(span.attributes),
            startMs: Number(BigInt(span.startTimeUnixNano) / 1000n) / 1000,
            endMs: Number(BigInt(span.endTimeUnixNano) / 1000n) / 1000,
          });
      }
      return Response.json({});
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    spans,
    /** The headers of the last request. */
    headers: () => lastHeaders,
    /** Makes it refuse all requests, or accept them again. */
    break(broken: boolean) {
      isBroken = broken;
    },
    /** Resolves with the spans of a trace once there are this many. */
    trace: (traceId: string, count: number) =>
      eventually(() => {
        const found = spans.filter((span) => span.traceId === traceId);
        return found.length >= count ? found : undefined;
      }, `${count} spans of the trace ${traceId}`),
    async [Symbol.asyncDispose]() {
      await server.stop(true);
    },
  };
}
