import type { z } from "zod";
import type { Caller } from "../../services/keys/permissions.ts";
import type { Answer } from "./answer.ts";
import type { LongCall } from "./long-call.ts";

/** The validated input of a handler. */
export type Input<Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType | undefined> = {
  /** The caller; `nobody` if the operation takes no key. */
  caller: Caller;
  params: z.output<Params>;
  query: z.output<Query>;
  body: BodyOf<Body>;
  /** The headers of the request, unchanged. */
  headers: Headers;
};

/** The value of a body with this schema; `undefined` if the operation takes none. */
export type BodyOf<Body extends z.ZodType | undefined> = Body extends z.ZodType ? z.output<Body> : undefined;

/** Does the work of an operation: calls its service, and returns what to answer. */
export type Handler<Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType | undefined> = (
  input: Input<Params, Query, Body>,
  call: () => LongCall,
) => Promise<Answer>;
