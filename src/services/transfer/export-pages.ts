import type { Message } from "../../contract/messages/events.ts";
import { hasContent } from "../../contract/messages/messages.ts";
import type { ExportLine } from "../../contract/transfer/lines.ts";
import { createRoughSet } from "../../lib/caches/rough-set.ts";
import { objectWith } from "../../lib/json/json-values.ts";
import { rowsOfStatement } from "../../lib/queues/steps.ts";
import type { Marks } from "../../store/inbox/ports.ts";
import type {
  ExportedEntity,
  ExportedMessage,
  ExportedParticipant,
  ExportedReaction,
  ExportOf,
  ExportReads,
  InboxExportReads,
  ReactionExportReads,
  ReactionPlace,
} from "../../store/transfer/ports.ts";
import { referencesOf } from "../messages/references.ts";
import { systemMessageLine } from "./export-inbox-lines.ts";
import { inboxPages, userInboxPages } from "./export-inbox-pages.ts";
import type { LinePages } from "./line-pages.ts";

const participantsOfLine = 1_000;

type Reads = ExportReads & InboxExportReads & ReactionExportReads;

/** All users, all conversations with their participants, all messages and kept system messages, and what is said of inboxes. */
export async function* organizationPages(exports: Reads, of: ExportOf): LinePages {
  for await (const { page } of pagesOf((after) => exports.users(of, after, rowsOfStatement))) yield page.map(userLine);
  for await (const { page, after } of pagesOf((after) => exports.conversations(of, after, rowsOfStatement))) {
    const upTo = page.at(-1)?.id;
    if (upTo !== undefined) yield* withParticipants(page, participantPages(exports, of, after, upTo));
  }
  yield* eventPages(exports, of);
  yield* inboxPages(exports, of);
}

/** A user, with the user's conversations, without their other participants, messages and inbox. */
export async function* userPages(exports: Reads, of: ExportOf, user: ExportedEntity, marks: Marks): LinePages {
  yield [userLine(user)];
  for await (const { page } of pagesOf((after) => exports.conversations(of, after, rowsOfStatement, user.id)))
    yield page.map(({ id, name }) => ({ conversation: { id, name, participants: [user.id] } }));
  yield* eventPages(exports, of, user.id);
  yield* reactionPages(exports, of, user.id);
  yield* userInboxPages(exports, of, { uid: user.id, marks });
}

/**
 * The messages and kept system messages of all, or the messages of a user. Those whose rows are damaged are left out. While a page is
 * being written, the next is read.
 */
async function* eventPages(exports: Reads, of: ExportOf, sender?: string): LinePages {
  const keys = createRoughSet();
  const read = (after: number) => {
    const reading = exports.events(of, after, sender);
    reading.catch(() => undefined); // seen below, unless the export breaks off before
    return reading;
  };
  for (let reading = read(Number.MIN_SAFE_INTEGER); ; ) {
    const page = await reading;
    if (page === undefined) return;
    reading = read(page.last);
    yield page.events.flatMap((event) =>
      event.kind === "message" ? messageLine(event) : systemMessageLine(event, keys),
    );
    if (sender !== undefined) continue; // reactions of others are not the user's
    for (const event of page.events)
      if (event.kind === "message" && event.isReactedTo) yield* reactionsTo(exports, of, event);
  }
}

async function* reactionsTo(exports: Reads, of: ExportOf, message: ExportedMessage): LinePages {
  let page: ExportedReaction[] = [];
  do {
    const last = page.at(-1);
    page = await exports.reactionsTo(of, message, last && { uid: last.sender, reaction: last.reaction });
    yield page.map(reactionLine);
  } while (page.length === rowsOfStatement);
}

/** How a user has reacted to messages. */
async function* reactionPages(exports: Reads, of: ExportOf, uid: string): LinePages {
  let after: ReactionPlace | undefined;
  do {
    const { reactions, last } = await exports.reactionsOf(of, uid, after);
    yield reactions.map(reactionLine);
    after = last;
  } while (after !== undefined);
}

function reactionLine({ mid, sender: senderId, reaction }: ExportedReaction): ExportLine {
  return { reaction: { mid, senderId, reaction } };
}

function userLine({ id, name, isBlocked }: ExportedEntity): ExportLine {
  return { user: { id, name, ...(isBlocked && { blocked: true }) } };
}

/** All pages, each with the id after which it begins. */
async function* pagesOf(
  read: (after: string) => Promise<ExportedEntity[]>,
): AsyncGenerator<{ page: ExportedEntity[]; after: string }, void> {
  for (let after = "", isMore = true; isMore; ) {
    const page = await read(after);
    yield { page, after };
    after = page.at(-1)?.id ?? "";
    isMore = page.length === rowsOfStatement;
  }
}

/** The participants of the conversations after one, up to another. */
async function* participantPages(
  exports: ExportReads,
  of: ExportOf,
  after: string,
  upTo: string,
): AsyncGenerator<ExportedParticipant[], void> {
  for (let from = after; ; ) {
    let page = await exports.participantsBetween(of, from, upTo, rowsOfStatement);
    yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < rowsOfStatement) return;
    from = last.cid;
    for (let next = last; page.length === rowsOfStatement; next = page.at(-1) ?? next) {
      page = await exports.participantsAfter(of, next, rowsOfStatement);
      yield page;
    }
  }
}

/** The lines of conversations: one with the first participants, and one for each further one. */
async function* withParticipants(
  conversations: ExportedEntity[],
  participants: AsyncGenerator<ExportedParticipant[], void>,
): LinePages {
  const places = new Map(conversations.map(({ id }, index) => [id, index]));
  let written = 0;
  let gathered: string[] = []; // of the first conversation that is not written yet

  function next(): ExportLine[] {
    const [conversation] = conversations.slice(written++, written);
    const uids = gathered;
    gathered = [];
    return conversation === undefined
      ? []
      : [{ conversation: { id: conversation.id, name: conversation.name, participants: uids } }];
  }

  function upTo(place: number): ExportLine[] {
    const lines: ExportLine[] = [];
    while (written < place) lines.push(...next());
    return lines;
  }

  for await (const page of participants) {
    const lines: ExportLine[] = [];
    for (const { cid, uid } of page) {
      const place = places.get(cid);
      if (place === undefined) continue; // of a conversation that was created since
      lines.push(...upTo(place));
      if (place < written) lines.push({ participant: { cid, uid } });
      else if (gathered.push(uid) === participantsOfLine) lines.push(...next());
    }
    yield lines;
  }
  yield upTo(conversations.length);
}

function messageLine({ importId, payload }: ExportedMessage): ExportLine[] {
  const message = objectWith(payload, "message")?.message;
  if (!isMessage(message) || !hasContent.check({ ...message, open: undefined })) return []; // one that has not begun to grow
  const { cid, from, body, x, attachments, created_at, silent, expires_at } = message;
  const files = attachments.map(({ file_id, file_name }) => ({ name: file_name, file_id }));
  const options = { ...(silent && { silent }), ...(expires_at !== undefined && { expires_at }) };
  const named = { ...(files.length > 0 && { attachments: files }) };
  return [
    {
      message: {
        id: importId,
        cid,
        senderId: from,
        body,
        x,
        ...named,
        created_at,
        ...options,
        ...referencesOf(message),
      },
    },
  ];
}

/** Checks what is read of a stored message, which Herald wrote. */
function isMessage(value: unknown): value is Message {
  if (typeof value !== "object" || value === null) return false;
  return (
    "cid" in value &&
    "from" in value &&
    "created_at" in value &&
    "attachments" in value &&
    Array.isArray(value.attachments)
  );
}
