import type { Hono, HonoRequest } from "hono";
import type { AuditTarget } from "../../contract/audit.ts";
import type { ClientAddress } from "../../lib/network/client-address.ts";
import type { Queue } from "../../lib/queues/queue.ts";
import type { Audit } from "../../services/audit.ts";
import type { Caller } from "../../services/keys/permissions.ts";
import type { Charge, Charges } from "../../services/limits/charges.ts";
import type { LongAnswers } from "../answers/long-answers.ts";
import type { Call } from "../calls.ts";
import type { CallerParts } from "./callers.ts";

/** The router. Requests come with the record of their call. */
export type Router = Hono<{ Bindings: Call }>;

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
export type Dependencies = CallerParts & {
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

/** Waits for a turn of the thread; `undefined` if the work may begin now. `bytes`: a body that is not parsed yet. */
export type TakeTurn = (exchange: Exchange, cost: number, bytes?: Uint8Array) => Promise<void> | undefined;
