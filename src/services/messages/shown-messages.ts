import type { ListedMessage, ShownMessage } from "../../contract/messages/events.ts";
import { rowsOfStatement } from "../../lib/queues/steps.ts";
import type { FileReads, StoredFile } from "../../store/files/ports.ts";

/** A message, and the JSON text that holds it. */
type Listed = { message: ListedMessage; text: string };

/** Creates what completes messages for lists over a socket. */
export function createShownMessages({ files }: { files: Pick<FileReads, "among"> }) {
  async function filesOf(org: string, messages: readonly ListedMessage[]): Promise<Map<string, StoredFile>> {
    const ids = new Set(messages.flatMap(({ attachments }) => attachments.map(({ file_id }) => file_id)));
    const found: StoredFile[] = [];
    const all = [...ids];
    for (let from = 0; from < all.length; from += rowsOfStatement)
      found.push(...(await files.among(org, all.slice(from, from + rowsOfStatement))));
    return new Map(found.map((file) => [file.id, file]));
  }

  function complete(message: ListedMessage, known: ReadonlyMap<string, StoredFile>): ShownMessage {
    const attachments = message.attachments.map((attachment) => {
      const file = known.get(attachment.file_id);
      return file === undefined
        ? attachment
        : { ...attachment, file_content_type: file.contentType, file_size: file.size };
    });
    return { ...message, attachments, updated_at: updatedAt(message) };
  }

  return {
    /** The messages with `updated_at`, and with the type and size of each file that there is. */
    async complete(org: string, messages: readonly ListedMessage[]): Promise<ShownMessage[]> {
      const known = await filesOf(org, messages);
      return messages.map((message) => complete(message, known));
    },
    /** The same as JSON texts. Those without attachments are not written anew. */
    async textsOf(org: string, listed: readonly Listed[]): Promise<string[]> {
      const known = await filesOf(
        org,
        listed.map(({ message }) => message),
      );
      return listed.map(({ message, text }) =>
        message.attachments.length > 0
          ? JSON.stringify(complete(message, known))
          : `${text.slice(0, -1)},"updated_at":"${updatedAt(message)}"}`,
      );
    },
  };
}

function updatedAt({ created_at, edited_at = created_at }: ListedMessage): string {
  return edited_at;
}
