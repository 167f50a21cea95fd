/**
 * The kind of an imported message. It lies before the log, at an offset below zero, so that no player meets it, and its
 * `mid` is its id in the import, which retention keeps.
 */
export const importedKind = "imported";

/** The kind of an imported system message. It lies before the log, too. */
export const importedSystemKind = "imported_system";

/** All that is imported lies after this offset. */
export const beginning = Number.MIN_SAFE_INTEGER;

/** The SQL condition that an event is a message of a conversation, sent or imported. */
export const isMessageOf = (event: string) => `${event}.kind IN ('message', '${importedKind}')`;

/** The same for the kind of an event. */
export function isMessageKind(kind: string): boolean {
  return kind === "message" || kind === importedKind;
}

/** The kinds of system messages, sent and imported. */
export const systemKinds = ["system", importedSystemKind];

/** The SQL condition that an event is a system message, sent or imported. */
export const isSystemMessage = (event: string) => `${event}.kind IN ('system', '${importedSystemKind}')`;

/**
 * The SQL condition that the event `e` belongs to its conversation `c` as it was last created: it was sent since, or
 * imported since.
 */
export const isOfConversation = `(e."offset" > c.log_start OR (e."offset" < 0 AND e."offset" > c.past_start))`;

/** The same for the rows of a conversation and an event that were read apart. */
export function isIn(
  { log_start, past_start }: { log_start: number; past_start: number | null },
  event: { offset: number },
): boolean {
  const offset = Number(event.offset);
  return offset > Number(log_start) || (offset < 0 && past_start !== null && offset > Number(past_start));
}
