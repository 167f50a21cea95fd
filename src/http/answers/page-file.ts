import { lengthForHead } from "../call/answer.ts";
import type { Call } from "../calls.ts";
import { isKnown } from "./byte-range.ts";
import type { Encoding, PageFile } from "./pack-file.ts";

/** What a client gets of a file: it without `bytes` if the client has them. */
type Chosen = { headers: Record<string, string>; bytes?: PageFile["bytes"][Encoding] };

/** Chooses the smallest encoding of a file that the client takes. */
export function choose(requested: Headers, file: PageFile): Chosen {
  const encoding = chooseEncoding(requested.get("accept-encoding"));
  const etag = etagOf(file, encoding);
  const headers = { ETag: etag, Vary: "Accept-Encoding" };
  if (isKnown(requested, etag)) return { headers };
  const encoded = encoding !== "identity" && { "Content-Encoding": encoding };
  return { headers: { ...headers, ...encoded }, bytes: file.bytes[encoding] };
}

/** Answers with a file, in the smallest encoding that the client takes, or says that the client has it. */
export function answerFile(
  request: Request,
  { requestId }: Call,
  file: PageFile,
  headers: Record<string, string>,
): Response {
  const { bytes, headers: chosen } = choose(request.headers, file);
  const common = { ...headers, ...chosen, "X-Request-Id": requestId };
  if (bytes === undefined) return new Response(null, { status: 304, headers: common });
  return new Response(bytes, { headers: { ...common, "Content-Type": file.type, ...lengthForHead(request, bytes) } });
}

/** Other bytes have another strong tag (RFC 9110, section 8.8.3.3). */
function etagOf({ etag }: PageFile, encoding: Encoding): string {
  return encoding === "identity" ? etag : `${etag.slice(0, -1)}-${encoding}"`;
}

/** The smallest encoding that `Accept-Encoding` allows (RFC 9110, section 12.5.3). */
function chooseEncoding(header: string | null): Encoding {
  const allowed = (header ?? "").split(",").flatMap((part) => {
    const [name = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
    return parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter)) ? [] : [name];
  });
  return (["br", "gzip"] as const).find((encoding) => allowed.includes(encoding)) ?? "identity";
}
