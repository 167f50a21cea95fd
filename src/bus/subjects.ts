/** The subject of an organization's log. Base64url, as identifiers may contain `.`, `*`, `>` and spaces. */
export function logSubject(org: string): string {
  return `herald.log.${Buffer.from(org).toString("base64url")}`;
}

/** The subject on which nodes ask one another who is connected. */
export const presenceSubject = "herald.presence";
