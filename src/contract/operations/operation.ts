import { z } from "zod";
import type { AuditTarget } from "../audit.ts";
import { exampleIds } from "../documents/examples.ts";
import type { ErrorCode } from "../errors/errors.ts";
import { identifier } from "../identifiers.ts";
import type { Scope } from "../keys/scopes.ts";

/** What the operations of each tag are for, in the order in which the documents show them. */
export const operationTags = {
  Messages: "Send to a conversation, or to a list of users.",
  Organizations: "An organization keeps its users, conversations and messages apart from all others.",
  Users:
    "The people that messages come from and go to, the tokens that their clients connect with, and their sessions.",
  Conversations: "Conversations, who takes part in them, and what was said.",
  Presence: "Who is connected now, on all nodes.",
  Keys: "Who may call: each key has scopes, and may be bound to an organization, to senders and to networks.",
  Audit: "Who did what.",
  Operation: "What an operator, a load balancer or an orchestrator asks.",
  Documents: "The contract of this server, for machines.",
} as const;

/** One answer of an operation: what it means, and the schema and example of its body where it has one. */
export type OperationAnswer = {
  description: string;
  schema?: z.ZodType;
  example?: unknown;
  headers?: Record<string, string>;
  contentType?: string;
};

/**
 * One HTTP operation: what the router binds, what the validator checks and what the OpenAPI document shows. Paths use
 * OpenAPI's `{name}`; each name has a member in `params`.
 */
export type Operation<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType | undefined = z.ZodType | undefined,
> = {
  operationId: string;
  method: "get" | "put" | "post" | "delete";
  path: string;
  tag: keyof typeof operationTags;
  summary: string;
  description?: string;
  params: Params;
  query: Query;
  /** Absent: the operation takes no body. */
  body: Body;
  /** An empty body stands for `{}`. */
  isBodyOptional?: boolean;
  bodyExample?: unknown;
  /** What a key needs. `any`: it need only be a key; `undefined`: the operation is open, and takes no key. */
  scope: Scope | "any" | undefined;
  /**
   * Keys that are bound to an organization may call what has `{org}` in its path, for their own, and nothing else, unless the
   * operation sees to it by itself.
   */
  limitsItself?: boolean;
  /**
   * What of it goes into the audit log. Without it: of what reads, the calls that were refused for lack of rights; of all
   * else, every call that was let in, too.
   */
  audit?: "refused" | "all";
  /** The ids that the body names, for the audit log. */
  targetOf?(body: Body extends z.ZodType ? z.output<Body> : undefined): AuditTarget;
  /** What the body asks for beyond one request, in requests. */
  workOf?(body: Body extends z.ZodType ? z.output<Body> : undefined): number;
  answers: Record<number, OperationAnswer>;
  /** Errors beyond those that every operation with a key may answer. */
  errors: ErrorCode[];
};

/** No query parameters. */
export const noQuery = z.strictObject({});

/** No path parameters. */
export const noParams = z.strictObject({});

const org = identifier.meta({ description: "The organization.", examples: [exampleIds.organization] });
const uid = identifier.meta({ description: "The user.", examples: [exampleIds.user] });
const cid = identifier.meta({ description: "The conversation.", examples: [exampleIds.conversation] });

/** The path of an organization. */
export const organizationPath = { path: "/admin/organizations/{org}", params: z.strictObject({ org }) };

/** The path of a user. */
export const userPath = {
  path: `${organizationPath.path}/users/{uid}`,
  params: z.strictObject({ org, uid }),
};

/** The path of a user's token. */
export const tokenPath = {
  path: `${userPath.path}/tokens/{jti}`,
  params: z.strictObject({
    org,
    uid,
    jti: identifier.meta({ description: "The `jti` of the token.", examples: [exampleIds.token] }),
  }),
};

/** The path of a conversation. */
export const conversationPath = {
  path: `${organizationPath.path}/conversations/{cid}`,
  params: z.strictObject({ org, cid }),
};

/** The path of a participant. */
export const participantPath = {
  path: `${conversationPath.path}/participants/{uid}`,
  params: z.strictObject({ org, cid, uid }),
};

/** Keeps the types of an operation's schemas, so that its handler is checked against them. */
export function defineOperation<Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType | undefined>(
  operation: Operation<Params, Query, Body>,
): Operation<Params, Query, Body> {
  return operation;
}
