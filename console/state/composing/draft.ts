import type {
  CustomParameters,
  MessageEnvelope,
  SystemMessageAddress,
  SystemMessageEnvelope,
} from "../../../sdk/types.ts";

/** One of the two send operations. */
export type Kind = "message" | "system_message";

/** An attachment as typed, or as a file that is uploaded. */
export type AttachmentDraft = { key: number; name: string; size: string; content_type: string; upload?: Upload };

/** A chosen file, and how far its upload is. */
export type Upload = { file: File } & (
  | { is: "going" }
  | { is: "failed"; reason: string }
  | { is: "stored"; fileId: string }
);

/** Whom a system message goes to. */
export type Audience = "users" | "conversation" | "everyone";

/** A send as typed. Its members are texts, because they may not be valid yet. */
export type Draft = {
  kind: Kind;
  senderId: string;
  /** Of a system message. */
  audience: Audience;
  cid: string;
  body: string;
  uids: string;
  x: string;
  id: string;
  attachments: AttachmentDraft[];
  isSilent: boolean;
  /** How many days inboxes keep a system message. Empty: it is not kept. */
  keepDays: string;
  /** Of a system message that is kept. */
  keepKey: string;
  /** A local time, `2026-12-01T09:00`; `undefined` for never. */
  expires: string | undefined;
  /** A local time; `undefined` for now. */
  sendAt: string | undefined;
};

/** What each send starts with. The other members of a draft stay for the next send. */
export const blank = {
  body: "",
  attachments: [],
  isSilent: false,
  keepDays: "",
  keepKey: "",
  expires: undefined,
  id: "",
} satisfies Partial<Draft>;

/** The point in time that a local time means, in ISO 8601, or `undefined` if it is none. */
export function timeOf(local: string): string | undefined {
  const date = new Date(local);
  return local === "" || Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/** The local time in so many minutes, as a field for times takes it. */
export function localNow(minutes: number): string {
  const date = new Date(Date.now() + minutes * 60_000);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** Users, one per line, because an id may contain commas and spaces. */
export function linesOf(text: string): string[] {
  return text.split(/\r?\n/).filter((line) => line !== "");
}

/** Converts a draft to a request. `x` is already parsed. `id` identifies the send, so that a retry sends nothing twice. */
export function requestOf(
  draft: Draft,
  organizationId: string,
  id: string,
  x: CustomParameters,
): MessageEnvelope | SystemMessageEnvelope {
  const { kind, senderId, cid, body, attachments, isSilent, expires = "" } = draft;
  const envelope = { organizationId, senderId };
  const expiresAt = timeOf(expires);
  const manner = {
    ...(isSilent && { silent: true as const }),
    ...(expiresAt !== undefined && { expires_at: expiresAt }),
  };
  if (kind === "system_message")
    return { ...envelope, messageSystem: { id, ...addressOf(draft), x, ...keepingOf(draft), ...manner } };
  return {
    ...envelope,
    message: {
      id,
      cid,
      body,
      x,
      attachments: attachments.map(({ name, size, content_type, upload }) => ({
        name,
        ...(size !== "" && { size: Number(size) }),
        ...(content_type !== "" && { content_type }),
        ...(upload?.is === "stored" && { file_id: upload.fileId }),
      })),
      ...manner,
    },
  };
}

/** The files that are not uploaded yet, without which a message would only announce them. */
export function uploadMistakes({ attachments }: Draft): { pointer: string; detail: string }[] {
  return attachments.flatMap(({ upload }, index) =>
    upload === undefined || upload.is === "stored"
      ? []
      : [{ pointer: `/message/attachments/${index}/file`, detail: uploadFaults[upload.is] }],
  );
}

/** The times that were asked for and are not given. */
export function timeMistakes({ sendAt, expires }: Draft): { pointer: string; detail: string }[] {
  const asked = [
    { pointer: "/send_at", time: sendAt },
    { pointer: "/message/expires_at", time: expires },
  ];
  return asked.flatMap(({ pointer, time }) =>
    time !== undefined && timeOf(time) === undefined ? [{ pointer, detail: "Choose a date and a time." }] : [],
  );
}

const uploadFaults = {
  going: "is still being uploaded; wait for it, or remove it",
  failed: "is not uploaded; try again, or remove it",
};

function addressOf({ audience, cid, uids }: Draft): SystemMessageAddress {
  if (audience === "everyone") return { everyone: true };
  return audience === "conversation" ? { cid } : { uids: linesOf(uids) };
}

function keepingOf({ keepDays, keepKey }: Draft): { keep_days?: number; key?: string } {
  if (keepDays === "") return {};
  return { keep_days: Number(keepDays), ...(keepKey !== "" && { key: keepKey }) };
}

const fieldNames = new Set(["senderId", "send_at", "cid", "body", "x", "id", "uids", "keep_days", "key", "expires_at"]);

/** What to enter in the fields that are empty, and may not be. */
export function neededOf({ kind, senderId, cid, body, uids, attachments }: Draft): Record<string, string> {
  return {
    ...(senderId === "" && { senderId: "Enter the user who sends it." }),
    ...(cid === "" && { cid: "Enter the conversation that it goes to." }),
    ...(kind === "message" && body === "" && attachments.length === 0 && { body: "Enter a text, or attach a file." }),
    ...(linesOf(uids).length === 0 && { uids: "Enter at least one user." }),
    ...Object.fromEntries(
      attachments.flatMap(({ name }, index) =>
        name === "" ? [[`attachments/${index}`, "Enter the file's name."]] : [],
      ),
    ),
  };
}

/**
 * Assigns errors to the form's fields, also those of a request that is scheduled. Returns the others as a list. Of a field in
 * `needed`, its text there says what is wrong.
 */
export function sortMistakes(
  errors: readonly { pointer: string; detail: string }[],
  needed: Readonly<Record<string, string>> = {},
) {
  const fields: Record<string, string> = {};
  const rest: string[] = [];
  const put = (name: string, detail: string) => {
    fields[name] ??= needed[name] ?? detail;
  };
  for (const { pointer: given, detail } of errors) {
    const pointer = given.replace(/^\/request(?=\/)/, "");
    const [, first = "", second = "", index = "", member = ""] = pointer.split("/");
    const name = first === "senderId" || first === "send_at" ? first : second;
    if (name === "attachments" && index !== "") put(`attachments/${index}`, `${member}: ${detail}`);
    else if (fieldNames.has(name))
      put(name, name === "uids" && index !== "" ? `Line ${Number(index) + 1}: ${detail}` : detail);
    else if (pointer === "/message") put("body", detail);
    else rest.push(pointer === "" ? detail : `${pointer}: ${detail}`);
  }
  return { fields, rest };
}
