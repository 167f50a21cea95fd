/** One of the two send operations. */
export type Kind = "message" | "system_message";

/** An attachment as typed. */
export type AttachmentDraft = { key: number; name: string; size: string; content_type: string };

/** A send as typed. Its members are texts, because they may not be valid yet. */
export type Draft = {
  kind: Kind;
  senderId: string;
  cid: string;
  body: string;
  uids: string;
  x: string;
  id: string;
  attachments: AttachmentDraft[];
};

/** Users, one per line, because an id may contain commas and spaces. */
export function linesOf(text: string): string[] {
  return text.split(/\r?\n/).filter((line) => line !== "");
}

/** Converts a draft to a request. `x` is already parsed. `id` identifies the send, so that a retry sends nothing twice. */
export function requestOf(draft: Draft, organizationId: string, id: string, x: Record<string, unknown>) {
  const { kind, senderId, cid, body, uids, attachments } = draft;
  const envelope = { organizationId, senderId };
  if (kind === "system_message") return { ...envelope, messageSystem: { id, uids: linesOf(uids), x } };
  return {
    ...envelope,
    message: {
      id,
      cid,
      body,
      x,
      attachments: attachments.map(({ name, size, content_type }) => ({
        name,
        ...(size !== "" && { size: Number(size) }),
        ...(content_type !== "" && { content_type }),
      })),
    },
  };
}

/** Assigns errors to the form's fields. Returns the others as a list. */
export function sortMistakes(errors: readonly { pointer: string; detail: string }[]) {
  const fields: Record<string, string> = {};
  const rest: string[] = [];
  for (const { pointer, detail } of errors) {
    const [, first = "", second = "", index = "", member = ""] = pointer.split("/");
    const name = first === "senderId" ? first : second;
    const isKnown = ["senderId", "cid", "body", "x", "id", "uids"].includes(name);
    if (name === "attachments" && index !== "") fields[`attachments/${index}`] ??= `${member}: ${detail}`;
    else if (isKnown)
      fields[name] ??= name === "uids" && index !== "" ? `Line ${Number(index) + 1}: ${detail}` : detail;
    else if (pointer === "/message") fields.body ??= detail;
    else rest.push(pointer === "" ? detail : `${pointer}: ${detail}`);
  }
  return { fields, rest };
}
