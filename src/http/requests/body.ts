import { HeraldError } from "../../contract/errors/errors.ts";

type Options<Call> = {
  maxBytes: number;
  /** Called with the number of bytes: before they are read, if the request declares it. */
  onLength(call: Call, bytes: number): void;
  /** Awaited before a part of a body of undeclared length is kept, unless it returns `undefined`. */
  turn(call: Call, bytes: Uint8Array): Promise<void> | undefined;
};

const mostDropped = 8 * 1024 * 1024;
const bodyBeginsWithinMs = 4_000; // most clients wait for up to three seconds, and then send the body anyway

/**
 * The length of a request's body in bytes: infinite if it is not declared by decimal digits. Bun joins repeated lines with
 * commas, so a length that is sent twice is no number.
 */
export function bytesOfBody(headers: Headers): number {
  const declared = headers.get("content-length");
  if (declared !== null) return /^\d{1,20}$/.test(declared) ? Number(declared) : Number.POSITIVE_INFINITY;
  return headers.has("transfer-encoding") ? Number.POSITIVE_INFINITY : 0;
}

/**
 * Whether the body may be too long to be read and dropped when its request is answered before its end, which Bun does
 * as fast as it comes, without an end if it has none. Then the connection is closed (RFC 9112, section 9.6).
 */
export function isTooLongToDrop(bodyBytes: number): boolean {
  return bodyBytes > mostDropped;
}

/**
 * Creates the reader of all bytes of a body, which rejects if they do not arrive. Bun hands over as many as are declared, and no
 * more: any other body is counted while it is read.
 */
export function createBytesReader<Call>(options: Options<Call>) {
  const { maxBytes, onLength } = options;
  return (request: Request, declaredBytes: number, call: Call): Promise<Uint8Array> => {
    const isDeclared = Number.isFinite(declaredBytes);
    if (isDeclared && declaredBytes > maxBytes) throw tooLarge(maxBytes);
    if (!isDeclared || mayWaitInVain(request.headers)) return collect(request, call, options);
    onLength(call, declaredBytes);
    return request.bytes();
  };
}

/** The error for what broke off the reading of a body. */
export function incomplete(cause: unknown): HeraldError {
  if (cause instanceof HeraldError) return cause;
  return new HeraldError("bad_request", "the body was incomplete; send the request again", { cause });
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

/** Throws `unsupported_media_type` unless the content type is that of JSON in UTF-8. */
export function requireJson(contentType: string | null): void {
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

/**
 * Reads a body of undeclared length, keeping no more of it than allowed. All that was read is paid for. The rest of one that is too
 * long is not read: Bun would read and drop it as fast as it comes until the response is sent.
 */
async function collect<Call>(
  request: Request,
  call: Call,
  { maxBytes, onLength, turn }: Options<Call>,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = request.body?.getReader();
  const first = reader?.read();
  const begin = first !== undefined && mayWaitInVain(request.headers) ? beginInTime(first) : first;
  for (let read = await begin; read?.value !== undefined; read = await reader?.read()) {
    const awaited = length > 0 ? turn(call, read.value) : undefined;
    if (awaited !== undefined) await awaited;
    chunks.push(read.value);
    length += read.value.length;
    if (length > maxBytes) break;
  }
  onLength(call, length);
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
