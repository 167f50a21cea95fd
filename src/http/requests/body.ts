import { HeraldError } from "../../contract/errors/errors.ts";
import { parseStrictJson, parseStrictJsonInTurns } from "../../contract/requests.ts";
import { nextTurn } from "../../lib/event-loop/next-turn.ts";

type Options<Body> = {
  maxBytes: number;
  maxDepth: number;
  isOptional: boolean;
  /** Told how many bytes come: before they are read, where the request says so. */
  onLength(bytes: number): void;
  /** Waited for before a short body is parsed, unless it is undefined. */
  turn(bytes: Uint8Array): Promise<void> | undefined;
  /** Makes of the value what it is to be, or throws. */
  check(value: unknown): Body;
  /** Runs what reads a long body, when that has its turn: one after another, so that what all of them become is not in memory at once. */
  alone(read: () => Promise<Body>): Promise<Body>;
};

const longBytes = 64 * 1024;

/**
 * What a request's body says in JSON, with nothing altered on the way. Throws what the contract names for bad bodies. A long one
 * is read in many short turns of the event loop.
 */
export async function readJsonBody<Body>(
  request: Request,
  { maxBytes, maxDepth, isOptional, onLength, turn, check, alone }: Options<Body>,
): Promise<Body> {
  let bytes: Uint8Array;
  try {
    bytes = await readBytes(request, maxBytes, onLength);
  } catch (cause) {
    if (cause instanceof HeraldError) throw cause;
    throw new HeraldError("bad_request", "the body did not arrive as a whole; send it again", { cause });
  }
  const isLong = bytes.length > longBytes;
  const awaited = isLong ? undefined : turn(bytes);
  if (awaited !== undefined) await awaited;
  if (isOptional && bytes.length === 0) return check({});
  requireJson(request.headers.get("content-type"));
  if (!isLong) return check(parseStrictJson(bytes, maxDepth));
  return await alone(async () => {
    const value = await parseStrictJsonInTurns(bytes, maxDepth);
    await nextTurn();
    return check(value);
  });
}

const organizationMember = /"organizationId"\s*:\s*"([^"]{1,128})"/;
const mostSearched = 4_096;

/** The organization that a body seems to name, before it is parsed: good enough to take turns by. */
export function organizationIn({ buffer, byteOffset, length }: Uint8Array): string | undefined {
  const start = Buffer.from(buffer, byteOffset, length).toString("latin1", 0, mostSearched);
  return organizationMember.exec(start)?.[1];
}

function requireJson(contentType: string | null): void {
  if (contentType === "application/json") return;
  const [type = "", ...parameters] = (contentType ?? "")
    .toLowerCase()
    .split(";")
    .map((part) => part.trim());
  const charset = parameters
    .find((parameter) => parameter.startsWith("charset="))
    ?.slice("charset=".length)
    .replaceAll('"', "");
  if (type !== "application/json" || (charset !== undefined && charset !== "utf-8"))
    throw new HeraldError("unsupported_media_type");
}

/** All bytes of a body; rejects when they do not come. */
function readBytes(request: Request, maxBytes: number, onLength: (bytes: number) => void): Promise<Uint8Array> {
  const declared = request.headers.get("content-length");
  if (declared === null) return collect(request, maxBytes, onLength);
  if (Number(declared) > maxBytes) throw tooLarge(maxBytes);
  onLength(Number(declared));
  return request.bytes();
}

/** A body of unannounced length: no more of it is kept than may be. */
async function collect(request: Request, maxBytes: number, onLength: (bytes: number) => void): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request.body ?? []) {
    length += chunk.length;
    if (length > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  onLength(length);
  return Buffer.concat(chunks);
}

function tooLarge(maxBytes: number): HeraldError {
  return new HeraldError("payload_too_large", `a request body may have ${maxBytes} bytes at most`);
}
