import { z } from "zod";
import type { AuditTarget } from "../audit.ts";
import {
  apiKeyExample,
  exampleIds,
  messageExample,
  proposalExample,
  scheduledSendExample,
  sessionExample,
  systemMessageExample,
  userConnectionExample,
} from "../documents/examples.ts";
import { webhookDeliveryExample, webhookExample } from "../documents/webhook-examples.ts";
import type { ErrorCode } from "../errors/errors.ts";
import { identifier } from "../identifiers.ts";
import type { Scope } from "../keys/scopes.ts";

/** The purpose of each tag's operations, in the order of the documents. */
export const operationTags = {
  Messages: "Send to a conversation, or to a list of users.",
  Organizations: "Each organization's users, conversations and messages are isolated from all other organizations.",
  Users: "The people who send and receive messages, the tokens that their clients connect with, and their sessions.",
  Conversations: "Conversations, their participants and their history.",
  Files: "The files of messages: their bytes, and who may have them.",
  Webhooks: "Posts that tell your server who was not reached, so that it can push or call.",
  Presence: "Who is connected now, on all nodes.",
  Keys: "API keys, each with scopes, perhaps for one organization, certain senders or networks; and the sessions of people in the console.",
  Audit: "Who did what.",
  Operation: "Endpoints for operators, load balancers and orchestrators.",
  Documents: "Machine-readable descriptions of this API.",
} as const;

/** One response of an operation: its meaning and, if it has a body, the body's schema and an example. */
export type OperationAnswer = {
  description: string;
  schema?: z.ZodType;
  /**
   * What the OpenAPI document has in place of `schema`, if the answers with other statuses 2xx differ: all of them fit it.
   * openapi-generator 7 reads them all with the schema of the lowest status.
   */
  commonSchema?: z.ZodType;
  example?: unknown;
  headers?: Record<string, string>;
  contentType?: string;
  /** The other media types that a request can ask for with `Accept`. */
  others?: Record<string, { schema: z.ZodType; example: unknown }>;
};

/**
 * One HTTP operation, used by the router, the validator and the OpenAPI document. Paths use OpenAPI's `{name}`, and each name
 * has a member in `params`.
 */
export type Operation<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType | undefined = z.ZodType | undefined,
> = {
  /** Its name in `createOperations`. */
  operationId: string;
  method: "get" | "put" | "post" | "delete";
  path: string;
  tag: keyof typeof operationTags;
  summary: string;
  description?: string;
  params: Params;
  query: Query;
  /** Headers that the operation understands besides the key: a member for each, whose invalid values are ignored. */
  requestHeaders?: z.ZodType;
  /** The schema of the body; `undefined` if the operation takes none. */
  body: Body;
  /**
   * The schema of one line, of an operation that reads a body of lines (`application/x-ndjson`) while it answers, and checks
   * each line itself. The body's size has no limit.
   */
  lines?: z.ZodType;
  /** Whether the operation reads a body of any media type while it arrives, and limits its size itself. */
  takesBytes?: boolean;
  /** An empty body stands for `{}`. */
  isBodyOptional?: boolean;
  bodyExample?: unknown;
  /**
   * The scope that the key needs. Several: one of them, and the service checks which. `any`: every key will do. `undefined`: the
   * operation needs no key.
   */
  scope: Scope | readonly Scope[] | "any" | undefined;
  /** Whether the key may also come as `Authorization: Bearer`. */
  takesBearer?: boolean;
  /**
   * Whether the operation enforces the organization of the key itself. Otherwise a key that is bound to an organization may only
   * call operations with `{org}` in their path, and only for its own organization.
   */
  limitsItself?: boolean;
  /**
   * Which calls go into the audit log. By default, calls that were refused for lack of rights and, unless the operation only
   * reads, every authenticated call.
   */
  audit?: "refused" | "all";
  /** The ids in the body, for the audit log. */
  targetOf?(body: Body extends z.ZodType ? z.output<Body> : undefined): AuditTarget;
  /** The work that the body causes beyond one request, in requests. */
  workOf?(body: Body extends z.ZodType ? z.output<Body> : undefined): number;
  answers: Record<number, OperationAnswer>;
  /** Errors beyond those that every operation with a key can return. */
  errors: readonly ErrorCode[];
};

/** No query parameters. */
export const noQuery = z.strictObject({});

const id = (description: string, example: string) => identifier.meta({ description, examples: [example] });

/** What each `{name}` in a path stands for. Of one path, they are in this order. */
const pathParameters = {
  org: id("The organization.", exampleIds.organization),
  cid: id("The conversation.", exampleIds.conversation),
  uid: id("The user.", exampleIds.user),
  connection_id: id("The connection.", userConnectionExample.connection_id),
  jti: id("The `jti` of the token.", exampleIds.token),
  sid: id("The scheduled send.", scheduledSendExample.id),
  pid: id("The proposal.", proposalExample.id),
  wid: id("The webhook.", webhookExample.id),
  did: id("The delivery.", webhookDeliveryExample.id),
  server_mid: id("The `server_mid` of the send.", messageExample._id),
  mid: id("The `mid` of the send.", systemMessageExample._id),
  file_id: id("The file.", exampleIds.file),
  id: id("The key's id.", apiKeyExample.id),
  session_id: id("The session.", sessionExample.id),
};
type Parameters = typeof pathParameters;
type NamesIn<Path> = Path extends `${string}{${infer Name extends keyof Parameters}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never;

/** The schema of the parameters of a path. */
type ParamsOf<Path> = z.ZodObject<Pick<Parameters, NamesIn<Path>>, z.core.$strict>;

/** An operation without its name, which is that of its member in `createOperations`. */
type Unnamed<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType | undefined = z.ZodType | undefined,
> = Omit<Operation<Params, Query, Body>, "operationId">;

/** What an operation has none of, if its definition does not say. */
type Omissible = "query" | "body" | "errors";

/** What defines an operation. */
type Definition<
  Path extends string = string,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType | undefined = z.ZodType | undefined,
> = { path: Path } & Omit<Unnamed<z.ZodType, Query, Body>, "path" | "params" | Omissible> &
  Partial<Pick<Unnamed<z.ZodType, Query, Body>, Omissible>>;

/** Preserves the types of an operation's schemas, so that the compiler checks its handler against them. */
export function defineOperation<
  Path extends string,
  Query extends z.ZodType = typeof noQuery,
  Body extends z.ZodType | undefined = undefined,
>(definition: Definition<Path, Query, Body>): Unnamed<ParamsOf<Path>, Query, Body>;
export function defineOperation(definition: Definition): Unnamed {
  const named = Object.entries(pathParameters).filter(([name]) => definition.path.includes(`{${name}}`));
  const params = z.strictObject(Object.fromEntries(named));
  return { params, query: noQuery, body: undefined, errors: [], ...definition };
}

/** Names each operation by its member. */
export function named<Operations extends Record<string, Unnamed>>(
  operations: Operations,
): { [Name in keyof Operations]: Operations[Name] & Pick<Operation, "operationId"> };
export function named(operations: Record<string, Unnamed>): Record<string, Operation> {
  return Object.fromEntries(
    Object.entries(operations).map(([operationId, operation]) => [operationId, { operationId, ...operation }]),
  );
}

/** The answers of a list: a page, here with these items. */
export function pageAnswers(schema: z.ZodType, items: readonly unknown[]): Record<number, OperationAnswer> {
  return { 200: { description: "A page.", schema, example: { items, cursor: null } } };
}

/** The answers of a `PUT`: 201 if it created something, 200 if that existed. */
export function putAnswers(schema: z.ZodType, example: unknown): Record<number, OperationAnswer> {
  return {
    200: { description: "Updated.", schema, example },
    201: { description: "Created.", schema, example },
  };
}
