import { type HeraldError, invalidRequest } from "../../contract/errors/errors.ts";
import { anyBytes } from "../../contract/files.ts";
import { toIso, toSeconds } from "../../contract/identifiers.ts";
import type { PayloadLimits } from "../../contract/limits.ts";
import type { Message } from "../../contract/messages/events.ts";
import { parseStrictJson, parseStrictJsonInTurns, validate } from "../../contract/requests.ts";
import { createImportLines } from "../../contract/transfer/lines.ts";
import { isObject } from "../../lib/json/json-values.ts";
import { createId, derivedIdOf, isUuidV7, joinIds, timeOfId } from "../../lib/text/ids.ts";
import type { ImportItem } from "../../store/transfer/ports.ts";
import { referencesOf } from "../messages/references.ts";
import { createInboxLineReader } from "./import-inbox-lines.ts";
import { requirePast } from "./line-times.ts";

/** The organization that lines are for. `keepsIds`: a message keeps an id that has the form of Herald's. */
type ImportTarget = { org: string; keepsIds: boolean };

type Options = {
  limits: PayloadLimits;
  /** How many participants or recipients one item may hold. */
  participantsOfItem: number;
  /** Milliseconds since the Unix epoch. */
  now(): number;
};

const idMayDifferMs = 60_000;
const expected =
  'must be an object with one of the members "user", "conversation", "participant", "message", "reaction", "system_message", "system_message_read" and "inbox_range"';

/** Creates a reader of the lines of an import, which checks them against the contract. */
export function createLineReader({ limits, participantsOfItem, now }: Options) {
  const schemas = createImportLines(limits);
  const inboxes = createInboxLineReader({ schemas, recipientsOfItem: participantsOfItem, now });

  function toParts(cid: string, uids: string[]): ImportItem[] {
    const items: ImportItem[] = [];
    for (let from = 0; from < uids.length; from += participantsOfItem)
      items.push({ kind: "participants", cid, uids: uids.slice(from, from + participantsOfItem) });
    return items;
  }

  function toMessage(value: unknown, { org, keepsIds }: ImportTarget): ImportItem[] {
    const given = validate(schemas.message, value).message;
    const {
      id: importId,
      cid,
      senderId,
      body,
      x,
      attachments,
      created_at: createdAt,
      silent,
      expires_at: expiresAt,
    } = given;
    requirePast("/message/created_at", createdAt, now());
    if (expiresAt !== undefined && expiresAt <= now()) return [];
    const files = attachments.map(({ file_id, name, size = 0, content_type }, index) => ({
      // Derived, so that the same line again is the same message.
      id: file_id ?? derivedIdOf(createdAt, joinIds(org, importId, index)),
      name,
      size,
      contentType: content_type || anyBytes,
    }));
    const message: Omit<Message, "_id"> = {
      t: toSeconds(createdAt),
      from: senderId,
      body,
      cid,
      x,
      attachments: files.map(({ id, name }) => ({ file_id: id, file_name: name })),
      created_at: toIso(createdAt),
      ...(silent && { silent }),
      ...(expiresAt !== undefined && { expires_at: toIso(expiresAt) }),
      ...referencesOf(given),
    };
    const hasOwnId = keepsIds && isUuidV7(importId) && Math.abs(timeOfId(importId) - createdAt) < idMayDifferMs;
    const id = hasOwnId ? importId : createId(createdAt);
    const rest = `,${JSON.stringify(message).slice(1)}}`;
    return [{ kind: "message", importId, id, cid, sender: senderId, rest, files, createdAt, expiresAt }];
  }

  function toItems(value: unknown, target: ImportTarget): ImportItem[] {
    const [kind, ...others] = isObject(value) ? Object.keys(value) : [];
    if (kind === undefined || others.length > 0) throw refused("", expected);
    switch (kind) {
      case "user": {
        const { id, name, blocked } = validate(schemas.user, value).user;
        return [{ kind, id, name, isBlocked: blocked }];
      }
      case "conversation": {
        const { id, name, participants = [] } = validate(schemas.conversation, value).conversation;
        return [{ kind, id, name }, ...toParts(id, participants)];
      }
      case "participant": {
        const { cid, uid } = validate(schemas.participant, value).participant;
        return [{ kind: "participants", cid, uids: [uid] }];
      }
      case "message":
        return toMessage(value, target);
      case "reaction": {
        const { mid, senderId: sender, reaction } = validate(schemas.reaction, value).reaction;
        return [{ kind, mid, sender, reaction }];
      }
      case "system_message":
        return inboxes.systemMessage(value, target.org);
      case "system_message_read":
        return [inboxes.read(value, target.org)];
      case "inbox_range":
        return [inboxes.range(value, target.org)];
      default:
        throw refused("", expected);
    }
  }

  return {
    /** The items that a line stands for, in the order in which they must be imported. Throws what is wrong with it. */
    read: (line: string, target: ImportTarget) => toItems(parseStrictJson(line, limits.jsonDepth), target),
    /** Like `read`, for a long line: spreads the work over many short turns. */
    async readInTurns(line: string, target: ImportTarget, turn: () => Promise<void>): Promise<ImportItem[]> {
      const value = await parseStrictJsonInTurns(line, limits.jsonDepth, turn);
      await turn();
      return toItems(value, target);
    },
  };
}

function refused(pointer: string, detail: string): HeraldError {
  return pointer === "" ? invalidRequest("", detail, `the line ${detail}`) : invalidRequest(pointer, detail);
}
