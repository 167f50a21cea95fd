import type { Context, Hono, HonoRequest } from "hono";
import type { AuditTarget } from "../../contract/audit.ts";
import type { Operation } from "../../contract/operations/operation.ts";
import type { ThreadScheduler } from "../../lib/event-loop/thread-scheduler.ts";
import type { ClientAddress } from "../../lib/network/client-address.ts";
import type { Queue } from "../../lib/queues/queue.ts";
import type { Audit } from "../../services/audit.ts";
import type { Authentication } from "../../services/keys/authentication.ts";
import { type Caller, nobody } from "../../services/keys/permissions.ts";
import type { LongAnswers } from "../answers/long-answers.ts";
import type { Call } from "../calls.ts";
import { organizationIn } from "../requests/body.ts";
import type { Charge, Charges } from "./charges.ts";

type Environment = { Bindings: Call };

/** The router. Requests come with the record of their call. */
export type Router = Hono<Environment>;

/** A request on its path to a response: what the steps of the path hand on. */
export type Exchange = {
  readonly request: Request;
  /** The request as the router knows it: with the parameters of the path, not yet validated. */
  readonly req: HonoRequest;
  /** What is told of it to those who observe calls. */
  readonly call: Call;
  /** The caller's address; empty if unknown. */
  readonly address: string;
  /** The organization in the path, not yet validated. */
  readonly org: string | undefined;
  readonly charge: Charge;
  /** `nobody` until the key is accepted. */
  caller: Caller;
  /** What the body or the service's result names, for the audit log. */
  target: AuditTarget | undefined;
  /** Whether the call may have changed something: it has gone to its service, which has not succeeded yet. */
  hasBegun: boolean;
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
export function createExchanges({ method, path }: Operation, { clientAddress, charges }: PathParts) {
  const route = { method: method.toUpperCase(), path };
  const namesOrganization = path.includes("{org}");

  return ({ req, env: call }: Context<Environment>): Exchange => {
    const request = req.raw;
    const address = clientAddress(request, call.from); // now, as it is unknown once the caller has hung up
    call.route = route;
    call.address = address;
    return {
      request,
      req,
      call,
      address,
      org: namesOrganization ? req.param("org") : undefined,
      charge: charges.open(),
      caller: nobody,
      target: undefined,
      hasBegun: false,
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
