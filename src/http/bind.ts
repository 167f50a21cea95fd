import type { Hono } from "hono";
import type { z } from "zod";
import type { AuditTarget } from "../contract/audit.ts";
import { HeraldError, toHeraldError, unavailable } from "../contract/errors/errors.ts";
import { problemResponse } from "../contract/errors/problem.ts";
import { toIso } from "../contract/identifiers.ts";
import type { Scope } from "../contract/keys/scopes.ts";
import type { Operation } from "../contract/operations/operation.ts";
import { validate } from "../contract/requests.ts";
import type { ThreadScheduler } from "../lib/event-loop/thread-scheduler.ts";
import type { ClientAddress, Peers } from "../lib/network/client-address.ts";
import { createQueue } from "../lib/queues/queue.ts";
import type { Audit } from "../services/audit.ts";
import type { Authentication } from "../services/keys/authentication.ts";
import { type Caller, nobody, permitOrganization, permitScope } from "../services/keys/permissions.ts";
import { threadCosts } from "../services/limits/costs.ts";
import type { RateLimit } from "../services/limits/key-rates.ts";
import type { OrganizationUse } from "../services/limits/organization-use.ts";
import { type LongAnswers, rememberBytes } from "./answers/long-answers.ts";
import { type Answer, discard, rowsIn, toResponse, toStream } from "./answers/response.ts";
import { createTrails } from "./audit-trail.ts";
import type { Call, Door } from "./calls.ts";
import { type Bill, createBills } from "./requests/bills.ts";
import { organizationIn, readJsonBody } from "./requests/body.ts";
import { requireNoEncoding } from "./requests/content-encoding.ts";
import { isTooLongToDrop } from "./requests/long-bodies.ts";
import { listsOf, readQuery } from "./requests/query.ts";
import { requestIdOf } from "./requests/request-id.ts";

/** The validated input of a handler. */
export type Input<Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType | undefined> = {
  /** The caller; `nobody` if the operation takes no key. */
  caller: Caller;
  params: z.output<Params>;
  query: z.output<Query>;
  body: Body extends z.ZodType ? z.output<Body> : undefined;
  /** The headers of the request, unchanged. */
  headers: Headers;
};

/** What a long-running handler may know of its call. */
export type LongCall = {
  /** The address of the caller; empty if unknown. */
  address: string;
  /** The address of the node that the call came to. */
  door: Door;
  requestId: string;
  /**
   * Its signal aborts when the caller hangs up. Bun creates the signal when it is first read. Only an operation of lines
   * reads the body.
   */
  request: Pick<Request, "signal" | "body" | "headers">;
  /** Does work during which nothing is sent for so many seconds. Resolves or rejects with it. */
  mayIdle<Result>(seconds: number, work: () => Promise<Result>): Promise<Result>;
  /** The response has ended: the bytes handed out must be taken within seconds, or the connection is cut. */
  endSoon(): void;
  /** Checks again whether the key is valid and still permits this; rejects with the error that a new call would get. */
  permit(): Promise<void>;
  /** Charges more work to the call, in requests. Resolves once its limits allow more. */
  pay(cost: number, options?: PayOptions): Promise<void>;
  /** Records the success of the call in the audit log, with what it did. */
  record(target: AuditTarget): Promise<void>;
};

/**
 * `org`: the organization that pays if the key has none. `withinMs`: rejects with `rate_limited` if the limits do not
 * allow more by then.
 */
export type PayOptions = { org?: string | undefined; withinMs?: number };

/** Binds an operation of the contract to its handler. */
export type Bind = <Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType | undefined>(
  operation: Operation<Params, Query, Body>,
  handler: (input: Input<Params, Query, Body>, call: LongCall) => Promise<Answer>,
) => void;

/** The server that accepted a request: knows its address, and sets how long its connection may be idle. */
export type Runtime = Peers & {
  /** In seconds; 0 means no time-out. */
  timeout(request: Request, seconds: number): void;
};

/** The router. Requests come with the server that accepted them and the record of their call. */
export type Router = Hono<{ Bindings: { runtime: Runtime; call: Call } }>;

type Dependencies = {
  app: Router;
  authentication: Authentication;
  rateLimit: RateLimit;
  use: Pick<OrganizationUse, "know" | "admitRequest" | "chargeRequest">;
  thread: ThreadScheduler;
  audit: Pick<Audit, "record" | "note">;
  longAnswers: LongAnswers;
  clientAddress: ClientAddress;
  /** `idleSeconds`: how long a connection may be idle. */
  limits: { requestBytes: number; jsonDepth: number; idleSeconds: number };
  /** Takes credentials out of what errors say: a caller may have put a key where an id belongs. */
  redact(text: string): string;
  onError(error: unknown, requestId: string): void;
};

const endedWithinSeconds = 5;
const mostIdleSeconds = 255; // that Bun knows
const payAgainMs = 50;
const rowsPerRequest = 100; // of a response: a page of a thousand is as much work as ten requests

/**
 * Creates the single path that every operation takes: key, rate, scope, path, query, body, service, response. Errors
 * become problem documents only here; unknown errors are logged and shown as `internal`.
 */
export function createBind({
  app,
  authentication,
  rateLimit,
  use,
  thread,
  clientAddress,
  audit,
  longAnswers,
  limits,
  redact,
  onError,
}: Dependencies): Bind {
  const bills = createBills({ rateLimit, use });
  // Keys take turns reading long bodies.
  const longBodies = createQueue(() => unavailable({ detail: "this node is shutting down; retry with the same id" }));
  async function payMore(bill: Bill, cost: number, { org, withinMs = Number.POSITIVE_INFINITY }: PayOptions = {}) {
    const asked = org === undefined ? undefined : use.know(org);
    if (asked !== undefined) await asked;
    bills.addWork(bill, cost, org);
    for (const until = performance.now() + withinMs; ; ) {
      try {
        return bills.mayGoOn(bill, org);
      } catch (error) {
        if (!(error instanceof HeraldError) || error.code !== "rate_limited" || performance.now() > until) throw error;
        await Bun.sleep(payAgainMs);
      }
    }
  }

  return (operation, handler) => {
    type BodyOf = Parameters<typeof handler>[0]["body"];
    const { method, path, params, query, body, scope, limitsItself = false } = operation;
    const noParams = path.includes("{") ? undefined : validate(params, {});
    const noQuery = query.safeParse({});
    const lists = listsOf(query);
    const follow = createTrails(operation, audit);
    const route = { method: method.toUpperCase(), path };
    const namesOrganization = path.includes("{org}");
    const takesBody = body !== undefined || operation.lines !== undefined || operation.takesBytes === true;
    const toBytes = scope === undefined ? rememberBytes() : (text: string) => Buffer.from(text);
    app.on(method, path.replaceAll(/\{(\w+)\}/g, ":$1"), async (context) => {
      const request = context.req.raw;
      const requestId = requestIdOf(request);
      const { call, runtime } = context.env;
      call.route = route;
      call.requestId = requestId;
      const address = clientAddress(request, runtime); // now, as it is unknown once the caller has hung up
      call.address = address;
      const trail = follow({ requestId, address, params: () => context.req.param() });
      const bill = bills.open();
      let caller = nobody;
      let answer: Answer | undefined;
      const authenticate = () =>
        authentication.authenticate(
          request.headers.get("admin-api-key"),
          () => address,
          () => isTooLongToDrop(request.headers),
        );
      const permit = (known: Caller, needed: Scope | readonly Scope[] | "any") => {
        if (needed !== "any") permitScope(known, needed);
        if (!limitsItself) permitOrganization(known, context.req.param("org"));
      };
      const takeTurn = (cost: number, bytes?: Uint8Array) =>
        thread.turn(
          () => caller.rights.org ?? context.req.param("org") ?? (bytes && organizationIn(bytes)) ?? caller.keyId,
          cost,
          { part: caller.keyId },
        );
      try {
        if (scope !== undefined) {
          const known = authenticate();
          caller = known instanceof Promise ? await known : known;
          trail.admit(caller);
          call.keyId = caller.keyId;
          const admitted = bills.admit(bill, caller);
          if (admitted !== undefined) await admitted;
          permit(caller, scope);
          const named = namesOrganization ? bills.name(bill, context.req.param("org")) : undefined;
          if (named !== undefined) await named;
          const turn = body === undefined ? takeTurn(threadCosts.request()) : undefined;
          if (turn !== undefined) await turn;
        }
        if (takesBody) requireNoEncoding(request.headers);
        const input = {
          caller,
          params: noParams ?? validate(params, context.req.param()),
          query:
            noQuery.success && !request.url.includes("?")
              ? noQuery.data
              : validate(query, readQuery(request.url, lists)),
          body: (body === undefined
            ? undefined
            : await readJsonBody(request, {
                maxBytes: limits.requestBytes,
                maxDepth: limits.jsonDepth,
                isOptional: operation.isBodyOptional === true,
                onLength(bytes) {
                  call.isBodyRead = bytes <= limits.requestBytes;
                  bills.addBody(bill, bytes);
                },
                check(value) {
                  const checked = validate(body, value) as BodyOf;
                  bills.addWork(bill, operation.workOf?.(checked) ?? 0);
                  return checked;
                },
                nextPart: async () => await takeTurn(threadCosts.slice),
                turn: (bytes) => takeTurn(threadCosts.request(bytes.length), bytes),
                alone: (read) =>
                  longBodies.add({ of: caller.keyId }, async () => {
                    bills.askAgain(bill);
                    await takeTurn(threadCosts.slice);
                    return await read();
                  }),
              })) as BodyOf,
          headers: request.headers,
        };
        const target = operation.targetOf?.(input.body);
        const named = namesOrganization || scope === undefined ? undefined : bills.name(bill, target?.organization);
        if (named !== undefined) await named;
        if (target !== undefined) trail.name(target);
        call.org = target?.organization ?? context.req.param("org");
        trail.begin();
        const endSoon = () => runtime.timeout(request, endedWithinSeconds);
        answer = await handler(input, {
          address,
          door: call.door,
          requestId,
          request,
          endSoon,
          async mayIdle(seconds, work) {
            runtime.timeout(request, Math.min(limits.idleSeconds + seconds, mostIdleSeconds));
            try {
              return await work();
            } finally {
              runtime.timeout(request, limits.idleSeconds); // which would hold for later requests on the connection, too
            }
          },
          pay: (cost, options) => payMore(bill, cost, options),
          async record(done) {
            trail.name(done);
            await trail.succeed(200);
          },
          permit: async () => {
            if (scope !== undefined) permit(await authenticate(), scope);
          },
        });
        call.isReplay = answer.isReplay === true;
        call.waitedMs = answer.waitedMs ?? 0;
        if (answer.target !== undefined) trail.name(answer.target);
        const recorded = answer.isRecorded === true ? undefined : trail.succeed(answer.status);
        if (recorded !== undefined) await recorded;
        const { stream, streamType } = answer;
        if (stream !== undefined)
          return tellExpiry(caller, await toStream({ stream, streamType }, request, requestId, runtime));
        const rows = rowsIn(answer.body);
        bills.addWork(bill, Math.floor(rows / rowsPerRequest));
        const turn = rows > 0 ? takeTurn(threadCosts.rows(rows)) : undefined;
        if (turn !== undefined) await turn;
        const response = toResponse(answer, request, requestId, (text) => {
          bills.addAnswer(bill, text);
          const answering = { org: call.org ?? caller.rights.org ?? undefined, request, endSoon };
          return request.method === "HEAD" ? text : longAnswers.bodyOf(text, toBytes, answering);
        });
        return tellExpiry(caller, response);
      } catch (thrown) {
        await discard(answer?.stream);
        const error = toHeraldError(thrown);
        if (error.status === 500) onError(thrown, requestId);
        call.code = error.code;
        trail.fail(error);
        bills.close(bill);
        return tellExpiry(caller, problemResponse(error, requestId, redact));
      }
    });
  };
}

/** Warns a caller who still uses an old secret of a rotated key. */
function tellExpiry({ secretExpiresAt }: Caller, response: Response): Response {
  if (secretExpiresAt !== undefined) response.headers.set("Herald-Key-Expires", toIso(secretExpiresAt));
  return response;
}
