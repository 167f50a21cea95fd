import type { Dispatch, StateUpdater } from "preact/hooks";
import { useConsole } from "../context.ts";
import type { AttachmentDraft, Draft } from "./draft.ts";

/** Uploads files for a draft, beginning with their choice. */
export type Uploads = { add(files: Iterable<File>): void; again(attachment: AttachmentDraft): void };

let lastKey = 0;

/** A key for an attachment of a draft, unlike all others of this page. */
export function attachmentKey(): number {
  return ++lastKey;
}

/** Uploads to the organization. An attachment that is removed meanwhile is uploaded for nothing, and gone after a day. */
export function useUploads(org: string, setDraft: Dispatch<StateUpdater<Draft>>): Uploads {
  const { client, announce, noteFailure } = useConsole();

  function change(key: number, part: Partial<AttachmentDraft>): void {
    setDraft((before) => ({
      ...before,
      attachments: before.attachments.map((one) => (one.key === key ? { ...one, ...part } : one)),
    }));
  }

  async function upload(key: number, file: File): Promise<void> {
    try {
      const contentType = file.type === "" ? undefined : file.type;
      const { file_id: fileId, size, content_type } = await client.upload(org, file.name, file, { contentType });
      change(key, { size: String(size), content_type, upload: { file, is: "stored", fileId } });
      announce(`${file.name} is uploaded`);
    } catch (error) {
      noteFailure(error);
      change(key, { upload: { file, is: "failed", reason: error instanceof Error ? error.message : String(error) } });
    }
  }

  return {
    add(files) {
      const added = [...files].map((file): AttachmentDraft & { upload: { file: File } } => ({
        key: attachmentKey(),
        name: file.name,
        size: String(file.size),
        content_type: file.type,
        upload: { file, is: "going" },
      }));
      setDraft((before) => ({ ...before, attachments: [...before.attachments, ...added] }));
      for (const {
        key,
        upload: { file },
      } of added)
        void upload(key, file);
    },
    again({ key, upload: failed }) {
      if (failed === undefined) return;
      change(key, { upload: { file: failed.file, is: "going" } });
      void upload(key, failed.file);
    },
  };
}
