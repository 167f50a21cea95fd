import { HeraldError } from "../../contract/errors/errors.ts";
import { parseStrictJson, parseStrictJsonInTurns } from "../../contract/requests.ts";
import { declaredLength } from "./head.ts";

type Options<Body> = {
  maxBytes: number;
  maxDepth: number;
  isOptional: boolean;
  /** Called with the number of bytes: before they are read, if the request declares it. */
  onLength(bytes: number): void;
  /** Awaited before a short body is parsed, and a part of one of undeclared length is kept, unless it returns `undefined`. */
  turn(bytes: Uint8Array): Promise<void> | undefined;
  /** Validates and converts the value, or throws. */
  check(value: unknown): Body;
  /** Awaited between parts of a long body, each of which takes about a millisecond. */
  nextPart(): Promise<void>;
  /**
   * Runs the reading of a long body when it is its turn: one at a time, so that the parsed values of all are not in
   * memory at once.
   */
  alone(read: () => Promise<Body>): Promise<Body>;
};

const longBytes = 64 * 1024;
const bodyBeginsWithinMs = 4_000; // most clients wait for up to three seconds, and then send the body anyway

/**
 * Reads a request's JSON body without altering it. Throws the contract's errors for bad bodies. A long body is read in
 * many short turns of the event loop.
 */
export async function readJsonBody<Body>(
  request: Request,
  { maxBytes, maxDepth, isOptional, onLength, turn, check, nextPart, alone }: Options<Body>,
): Promise<Body> {
  let bytes: Uint8Array;
  try {
    bytes = await readBytes(request, { maxBytes, onLength, turn });
  } catch (cause) {
    if (cause instanceof HeraldError) throw cause;
    throw new HeraldError("bad_request", "the body was incomplete; send the request again", { cause });
  }
  const isLong = bytes.length > longBytes;
  const awaited = isLong ? undefined : turn(bytes);
  if (awaited !== undefined) await awaited;
  if (isOptional && bytes.length === 0) return check({});
  requireJson(request.headers.get("content-type"));
  if (!isLong) return check(parseStrictJson(bytes, maxDepth));
  return await alone(async () => {
    const value = await parseStrictJsonInTurns(bytes, maxDepth, nextPart);
    await nextPart();
    return check(value);
  });
}

const organizationMember = /"organizationId"\s*:\s*"([^"]{1,128})"/;
const mostSearched = 4_096;

/** The organization that an unparsed body seems to name; good enough to take turns by. */
export function organizationIn({ buffer, byteOffset, length }: Uint8Array): string | undefined {
  const start = Buffer.from(buffer, byteOffset, length).toString("latin1", 0, mostSearched);
  return organizationMember.exec(start)?.[1];
}

/**
 * Throws `unsupported_media_type` for a body with a content coding (RFC 9110, section 8.4), which would otherwise be read, or
 * stored, as if it were the content.
 */
export function requireNoEncoding(headers: Headers): void {
  const encoding = headers.get("content-encoding");
  if (encoding === null || encoding.split(",").every(isIdentity)) return;
  throw new HeraldError(
    "unsupported_media_type",
    "bodies with a `Content-Encoding` are not decoded; send the body uncompressed, without that header",
    { headers: { "Accept-Encoding": "identity" } },
  );
}

function isIdentity(coding: string): boolean {
  return /^\s*(identity)?\s*$/i.test(coding);
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

type Reading = Pick<Options<unknown>, "maxBytes" | "onLength" | "turn">;

/**
 * Reads all bytes of a body; rejects if they do not arrive. Bun hands over as many as are declared, and no more: any other
 * body is counted while it is read.
 */
function readBytes(request: Request, reading: Reading): Promise<Uint8Array> {
  const { maxBytes, onLength } = reading;
  const declared = declaredLength(request.headers);
  if (declared !== undefined && declared > maxBytes) throw tooLarge(maxBytes);
  if (declared === undefined || mayWaitInVain(request.headers)) return collect(request, reading);
  onLength(declared);
  return request.bytes();
}

/**
 * Reads a body of undeclared length, keeping no more of it than allowed. All that was read is paid for. The rest of one that is too
 * long is not read: Bun would read and drop it as fast as it comes until the response is sent.
 */
async function collect(request: Request, { maxBytes, onLength, turn }: Reading): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = request.body?.getReader();
  const first = reader?.read();
  const begin = first !== undefined && mayWaitInVain(request.headers) ? beginInTime(first) : first;
  for (let read = await begin; read?.value !== undefined; read = await reader?.read()) {
    const awaited = length > 0 ? turn(read.value) : undefined;
    if (awaited !== undefined) await awaited;
    chunks.push(read.value);
    length += read.value.length;
    if (length > maxBytes) break;
  }
  onLength(length);
  if (length > maxBytes) throw tooLarge(maxBytes);
  return Buffer.concat(chunks);
}

/**
 * Whether the caller may wait in vain before it sends the body: Bun 1.4.5 answers `Expect: 100-continue` with `100 Continue`
 * only in this spelling, although case does not matter (RFC 9110, section 10.1.1), and offers no other way to.
 */
function mayWaitInVain(headers: Headers): boolean {
  const expectation = headers.get("expect");
  return expectation !== null && expectation !== "100-continue" && expectation.toLowerCase() === "100-continue";
}

/** Settles with the first read of a body; rejects with `bad_request` if nothing arrives for some seconds. */
async function beginInTime<Read>(read: Promise<Read>): Promise<Read> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(waitedInVain()), bodyBeginsWithinMs);
  try {
    return await Promise.race([read, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function waitedInVain(): HeraldError {
  const detail =
    "the body did not arrive: this server answers `Expect: 100-continue` only in lower case; write it that way, or send the body at once";
  return new HeraldError("bad_request", detail, { headers: { Connection: "close" } });
}

function tooLarge(maxBytes: number): HeraldError {
  return new HeraldError(
    "payload_too_large",
    `the request body exceeds the limit of ${maxBytes} bytes; send a smaller one`,
  );
}
