import { z } from "zod";
import { type FrameId, type FrameOperation, frameId, frameRequests } from "../../contract/connections/frames.ts";
import { unsupportedFrames, unsupportedRequests } from "../../contract/connections/unsupported.ts";
import { HeraldError } from "../../contract/errors/errors.ts";
import { withoutCredentials } from "../../contract/keys/redaction.ts";
import { parseStrictJson } from "../../contract/requests.ts";

/** A request from a client, its payload not yet validated; or the `fault` for which it cannot be processed. */
export type Frame =
  | { id: FrameId; operation: FrameOperation; payload: unknown; fault?: undefined }
  | { id: FrameId | undefined; fault: HeraldError };

const envelope = z.strictObject({ request: z.record(z.string(), z.unknown()) });
const sentFrame = z.looseObject({ id: frameId });
const typingFrame = z.strictObject({ typing: z.looseObject({ id: frameId.optional(), cid: frameId.optional() }) });
const operations = Object.keys(frameRequests);

/** Reads a text frame. If the frame is unreadable, its fault has no `id`. */
export function readFrame(text: string, maxDepth: number): Frame {
  let value: unknown;
  try {
    value = parseStrictJson(text, maxDepth);
  } catch (error) {
    if (error instanceof HeraldError) return { id: undefined, fault: error };
    throw error;
  }
  const unsupported = readUnsupported(value);
  if (unsupported !== undefined) return unsupported;
  const typing = readTyping(value);
  if (typing !== undefined) return typing;
  const parsed = envelope.safeParse(value);
  if (!parsed.success) return { id: undefined, fault: fault('a frame is {"request":{"<operation>":{…},"id":"…"}}') };
  const { id, ...rest } = parsed.data.request;
  const readId = frameId.safeParse(id);
  if (!readId.success)
    return {
      id: undefined,
      fault: fault("a request needs an `id`, which is a number or a string of at most 128 characters"),
    };
  const [operation, ...others] = Object.keys(rest);
  const instead = operation === undefined ? undefined : ownOf(unsupportedRequests, operation);
  if (instead !== undefined && others.length === 0)
    return { id: readId.data, fault: new HeraldError("not_supported", `${operation} is not supported: ${instead}`) };
  if (operation === undefined || others.length > 0 || !isOperation(operation)) {
    return { id: readId.data, fault: fault(`a request must contain exactly one of ${operations.join(", ")}`) };
  }
  return { id: readId.data, operation, payload: rest[operation] };
}

/** A frame by which a SAMA client sends something: it is named by its first member, and may have an id. */
function readUnsupported(value: unknown): Frame | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const [[name, content] = []] = Object.entries(value);
  const instead = name === undefined ? undefined : ownOf(unsupportedFrames, name);
  if (instead === undefined) return undefined;
  const id = sentFrame.safeParse(content).data?.id;
  return { id, fault: new HeraldError("not_supported", `${name} is not supported: ${instead}`) };
}

/** A `typing` frame, which SAMA clients send outside of `request`. Without an `id`, they wait for the answer under the `cid`. */
function readTyping(value: unknown): Frame | undefined {
  const parsed = typingFrame.safeParse(value);
  if (!parsed.success) return undefined;
  const { id, ...payload } = parsed.data.typing;
  const answerId = id ?? payload.cid;
  if (answerId === undefined) return { id: undefined, fault: fault("a `typing` frame needs a `cid`") };
  return { id: answerId, operation: "typing", payload };
}

function ownOf(table: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

function isOperation(name: string): name is FrameOperation {
  return operations.includes(name);
}

function fault(detail: string): HeraldError {
  return new HeraldError("bad_request", detail);
}

/** The frame that answers a request. */
export function responseFrame(id: FrameId, body: object): string {
  return JSON.stringify({ response: { id, ...body } });
}

/** The frame that answers a request with a list under `name`; the items are JSON texts. */
export function listFrame(id: FrameId, name: string, items: readonly string[]): string {
  return `{"response":{"id":${JSON.stringify(id)},"${name}":[${items.join(",")}]}}`;
}

/** The frame that reports an error; without `id` if the request could not be read. */
export function errorFrame(id: FrameId | undefined, error: HeraldError): string {
  const { status, code, message } = error;
  const shown = { status, code, message: withoutCredentials(message) };
  return JSON.stringify({ response: { ...(id !== undefined && { id }), error: shown } });
}
