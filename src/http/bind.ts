import type { Hono } from "hono";
import type { z } from "zod";
import { answerHeaders } from "../contract/answer-headers.ts";
import type { AuditTarget } from "../contract/audit.ts";
import { toHeraldError } from "../contract/errors.ts";
import { toIso } from "../contract/identifiers.ts";
import type { Operation } from "../contract/operations/operation.ts";
import { problemResponse } from "../contract/problem.ts";
import { validate } from "../contract/validation.ts";
import type { ClientAddress, Peers } from "../lib/client-address.ts";
import { createId } from "../lib/ids.ts";
import type { Audit } from "../services/audit.ts";
import type { Authentication } from "../services/authentication.ts";
import { type Caller, nobody, permitOrganization, permitScope } from "../services/permissions.ts";
import { createTrails } from "./audit-trail.ts";
import { readJsonBody } from "./body.ts";
import type { Call } from "./calls.ts";
import type { RateLimit } from "./limits.ts";
import { listsOf, readQuery } from "./query.ts";

/** What a handler is given: everything checked. */
export type Input<Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType | undefined> = {
  /** Who calls; `nobody` where the operation takes no key. */
  caller: Caller;
  params: z.output<Params>;
  query: z.output<Query>;
  body: Body extends z.ZodType ? z.output<Body> : undefined;
  /** The headers of the request, as they came. */
  headers: Headers;
};

/** What a handler answers. Without a `body` the answer has none. `target` goes into the audit log, not into the answer. */
export type Answer = {
  status: number;
  headers?: Record<string, string>;
  target?: AuditTarget;
} & ({ body?: unknown; contentType?: undefined } | { body: string; contentType: string });

/** Binds an operation of the contract to what does it. */
export type Bind = <Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType | undefined>(
  operation: Operation<Params, Query, Body>,
  handler: (input: Input<Params, Query, Body>) => Promise<Answer>,
) => void;

/** The router. Its requests are handed over together with where they came from, and with what is told of them. */
export type Router = Hono<{ Bindings: { peers: Peers; call: Call } }>;

type Dependencies = {
  app: Router;
  authentication: Authentication;
  rateLimit: RateLimit;
  audit: Pick<Audit, "record" | "note">;
  clientAddress: ClientAddress;
  limits: { requestBytes: number; jsonDepth: number };
  onError(error: unknown, requestId: string): void;
};

const callerRequestId = /^[\x21-\x7e]{1,128}$/;

/** The id of a request: the caller's `X-Request-Id` if it is visible ASCII of at most 128 characters, else a new one. */
export function requestIdOf(request: Request): string {
  const given = request.headers.get("x-request-id");
  return given !== null && callerRequestId.test(given) ? given : createId();
}

/**
 * One way through the house for every operation: key, rate, scope, path, query, body, service, answer. Errors become problem
 * documents here and nowhere else; an unknown error is logged and shown as `internal`.
 */
export function createBind({
  app,
  authentication,
  rateLimit,
  clientAddress,
  audit,
  limits,
  onError,
}: Dependencies): Bind {
  return (operation, handler) => {
    const { method, path, params, query, body, scope, limitsItself = false } = operation;
    const noParams = path.includes("{") ? undefined : validate(params, {});
    const noQuery = query.safeParse({});
    const lists = listsOf(query);
    const follow = createTrails(operation, audit);
    const route = { method: method.toUpperCase(), path };
    app.on(method, path.replaceAll(/\{(\w+)\}/g, ":$1"), async (context) => {
      const request = context.req.raw;
      const requestId = requestIdOf(request);
      const { call, peers } = context.env;
      call.route = route;
      call.requestId = requestId;
      const address = clientAddress(request, peers); // now: nobody knows it once the caller has hung up
      const trail = follow({ request, requestId, address, params: () => context.req.param() });
      let caller = nobody;
      try {
        if (scope !== undefined) {
          caller = await authentication.authenticate(request.headers.get("admin-api-key"), () => address);
          trail.admit(caller);
          call.keyId = caller.keyId;
          rateLimit(caller.keyId);
          permitScope(caller, scope);
          if (!limitsItself) permitOrganization(caller, context.req.param("org"));
        }
        const input = {
          caller,
          params: noParams ?? validate(params, context.req.param()),
          query:
            noQuery.success && !request.url.includes("?")
              ? noQuery.data
              : validate(query, readQuery(request.url, lists)),
          body: (body === undefined
            ? undefined
            : validate(
                body,
                await readJsonBody(request, {
                  maxBytes: limits.requestBytes,
                  maxDepth: limits.jsonDepth,
                  isOptional: operation.isBodyOptional === true,
                }),
              )) as Input<typeof params, typeof query, typeof body>["body"],
          headers: request.headers,
        };
        const target = operation.targetOf?.(input.body);
        if (target !== undefined) trail.name(target);
        call.org = target?.organization ?? context.req.param("org");
        trail.begin();
        const answer = await handler(input);
        call.isReplay = answer.headers?.["Idempotent-Replayed"] !== undefined;
        if (answer.target !== undefined) trail.name(answer.target);
        await trail.succeed(answer.status);
        return tellExpiry(caller, toResponse(answer, requestId));
      } catch (thrown) {
        const error = toHeraldError(thrown);
        if (error.status === 500) onError(thrown, requestId);
        trail.fail(error);
        return tellExpiry(caller, problemResponse(error, requestId));
      }
    });
  };
}

/** Warns a caller who still uses the old secret of a rotated key. */
function tellExpiry({ secretExpiresAt }: Caller, response: Response): Response {
  if (secretExpiresAt !== undefined) response.headers.set("Herald-Key-Expires", toIso(secretExpiresAt));
  return response;
}

function toResponse({ status, body, contentType, headers }: Answer, requestId: string): Response {
  if (body === undefined)
    return new Response(null, { status, headers: { "X-Request-Id": requestId, ...answerHeaders, ...headers } });
  return new Response(contentType === undefined ? JSON.stringify(body) : body, {
    status,
    headers: {
      "Content-Type": contentType ?? "application/json",
      "X-Request-Id": requestId,
      ...answerHeaders,
      ...headers,
    },
  });
}
