import type { Context, Hono } from "hono";
import type { Operation } from "../../contract/operations/operation.ts";
import type { ThreadScheduler } from "../../lib/event-loop/thread-scheduler.ts";
import type { ClientAddress, Peers } from "../../lib/network/client-address.ts";
import type { Queue } from "../../lib/queues/queue.ts";
import type { Audit } from "../../services/audit.ts";
import type { Authentication } from "../../services/keys/authentication.ts";
import { type Caller, nobody } from "../../services/keys/permissions.ts";
import type { LongAnswers } from "../answers/long-answers.ts";
import { createTrails, type Trail } from "../audit-trail.ts";
import { type Call, requestIdOf } from "../calls.ts";
import { organizationIn } from "../requests/body.ts";
import type { Charge, Charges } from "./charges.ts";

/** The server that accepted a request: knows its address, and sets how long its connection may be idle. */
export type Runtime = Peers & {
  /** In seconds; 0 means no time-out. */
  timeout(request: Request, seconds: number): void;
};

type Environment = { Bindings: { runtime: Runtime; call: Call } };

/** The router. Requests come with the server that accepted them and the record of their call. */
export type Router = Hono<Environment>;

/** A request on its path to a response: what the steps of the path hand on. */
export type Exchange = {
  readonly request: Request;
  readonly runtime: Runtime;
  /** What is told of it to those who observe calls. */
  readonly call: Call;
  readonly requestId: string;
  /** The caller's address; empty if unknown. */
  readonly address: string;
  /** All parameters of the path, not yet validated. */
  params(): Record<string, string>;
  /** The organization in the path, not yet validated. */
  readonly org: string | undefined;
  readonly trail: Trail;
  readonly charge: Charge;
  /** `nobody` until the key is accepted. */
  caller: Caller;
};

/** What the path of all calls is made of. */
export type Dependencies = {
  authentication: Authentication;
  audit: Pick<Audit, "record" | "note">;
  longAnswers: LongAnswers;
  clientAddress: ClientAddress;
  /** `idleSeconds`: how long a connection may be idle. */
  limits: { requestBytes: number; jsonDepth: number; idleSeconds: number };
  /** Takes credentials out of what errors say: a caller may have put a key where an id belongs. */
  redact(text: string): string;
  onError(error: unknown, requestId: string): void;
};

/** What the steps of the path share. */
export type PathParts = Dependencies & {
  charges: Charges;
  takeTurn: TakeTurn;
  /** Reads long bodies one at a time, in turns of their keys. */
  longBodies: Pick<Queue, "add">;
};

/** Creates the function that begins the exchanges of an operation. */
export function createExchanges(operation: Operation, { clientAddress, audit, charges }: PathParts) {
  const follow = createTrails(operation, audit);
  const route = { method: operation.method.toUpperCase(), path: operation.path };
  const namesOrganization = operation.path.includes("{org}");

  return ({ req, env: { call, runtime } }: Context<Environment>): Exchange => {
    const request = req.raw;
    const requestId = requestIdOf(request);
    const address = clientAddress(request, runtime); // now, as it is unknown once the caller has hung up
    call.route = route;
    call.requestId = requestId;
    call.address = address;
    const params = () => req.param();
    return {
      request,
      runtime,
      call,
      requestId,
      address,
      params,
      org: namesOrganization ? req.param("org") : undefined,
      trail: follow({ requestId, address, params }),
      charge: charges.open(),
      caller: nobody,
    };
  };
}

/** Waits for a turn of the thread; `undefined` if the work may begin now. `bytes`: a body that is not parsed yet. */
export type TakeTurn = (exchange: Exchange, cost: number, bytes?: Uint8Array) => Promise<void> | undefined;

/** Creates the turns of exchanges: organizations take turns, and keys within their organization. */
export function createTakeTurn(thread: ThreadScheduler): TakeTurn {
  return ({ caller, org }, cost, bytes) =>
    thread.turn(() => caller.rights.org ?? org ?? (bytes && organizationIn(bytes)) ?? caller.keyId, cost, {
      part: caller.keyId,
    });
}
