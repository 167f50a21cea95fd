/** Which of the two operations. */
export type Kind = "message" | "system_message";

/** One attachment as it is typed. */
export type AttachmentDraft = { key: number; name: string; size: string; content_type: string };

/** A send as it is typed; texts, since what is typed need not be valid yet. */
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

/** Users, one in a line: an id may hold commas and spaces. */
export function linesOf(text: string): string[] {
  return text.split(/\r?\n/).filter((line) => line !== "");
}

/** The request that a draft stands for. `x` was read before; `id` identifies the send, so that a retry is none. */
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

/** The mistakes by the field of the form that they belong to; the rest stays in a list. */
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
