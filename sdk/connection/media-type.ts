/** The media type of a response in lower case, without its parameters; empty if it has none (RFC 9110, section 8.3). */
export function mediaTypeOf({ headers }: Pick<Response, "headers">): string {
  const [type = ""] = (headers.get("content-type") ?? "").split(";");
  return type.trim().toLowerCase();
}
