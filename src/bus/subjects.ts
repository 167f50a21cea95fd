/** The subject of an organization's log. Base64url, as identifiers may contain `.`, `*`, `>` and spaces. */
export function logSubject(org: string): string {
  return `herald.log.${Buffer.from(org).toString("base64url")}`;
}

/** The subject on which nodes ask one another who is connected. */
export const presenceSubject = "herald.presence";

/** The subject on which nodes tell that a user's connections have begun or ended. */
export function activitySubject({ org, uid }: { org: string; uid: string }): string {
  return `herald.activity.${Buffer.from(org).toString("base64url")}.${Buffer.from(uid).toString("base64url")}`;
}

/** The subject on which nodes tell that users of an organization are typing. */
export function typingSubject(org: string): string {
  return `herald.typing.${Buffer.from(org).toString("base64url")}`;
}

/** The subject on which nodes ask one another to watch an event. */
export const watchSubject = "herald.watch";

/** The subject of the news of one question; with `*`, of all questions that the node has asked. Neither id is a caller's. */
export function newsSubject(nodeId: string, ask: string): string {
  return `herald.news.${nodeId}.${ask}`;
}

/** Calls `each` with all that listen on a subject, or on its wildcard: `*` in place of its last part. */
export function forEachListened<Listener>(
  subject: string,
  listening: { of(subject: string): ReadonlySet<Listener> | undefined },
  each: (listener: Listener) => void,
): void {
  const wildcard = `${subject.slice(0, subject.lastIndexOf(".") + 1)}*`;
  for (const listener of listening.of(subject) ?? []) each(listener);
  for (const listener of listening.of(wildcard) ?? []) each(listener);
}
