import type { AttachmentDraft, Upload } from "../../state/composing/draft.ts";
import { attachmentKey, type Uploads } from "../../state/composing/uploads.ts";
import { formatBytes } from "../format-bytes.ts";
import { Prose } from "../prose.tsx";
import { TextField } from "./field.tsx";

type Props = {
  attachments: readonly AttachmentDraft[];
  mistakes: Record<string, string>;
  /** Absent if the key may not upload. */
  uploads: Uploads | undefined;
  onChange: (attachments: AttachmentDraft[]) => void;
};

/** The attachments of a message, a choice of files to upload, and a button that announces one. */
export function Attachments({ attachments, mistakes, uploads, onChange }: Props) {
  return (
    <>
      {attachments.map((attachment, index) => (
        <fieldset key={attachment.key} class="attachment">
          <legend>Attachment {index + 1}</legend>
          {attachment.upload === undefined ? (
            <Announced
              attachment={attachment}
              onChange={(part) =>
                onChange(attachments.map((one) => (one.key === attachment.key ? { ...one, ...part } : one)))
              }
            />
          ) : (
            <Uploaded attachment={attachment} upload={attachment.upload} onRetry={() => uploads?.again(attachment)} />
          )}
          <button
            type="button"
            class="small"
            aria-label={`Remove attachment ${index + 1}`}
            onClick={() => onChange(attachments.filter(({ key }) => key !== attachment.key))}
          >
            Remove
          </button>
          {mistakes[`attachments/${index}`] !== undefined && (
            <p class="field-error" role="alert">
              <Prose text={mistakes[`attachments/${index}`] ?? ""} />
            </p>
          )}
        </fieldset>
      ))}
      <div class="together">
        {uploads !== undefined && (
          <label class="file-choice">
            Upload files
            <input
              type="file"
              multiple
              class="visually-hidden"
              onChange={({ currentTarget }) => {
                uploads.add(currentTarget.files ?? []);
                currentTarget.value = ""; // so that the same file can be chosen again
              }}
            />
          </label>
        )}
        <button
          type="button"
          class="link"
          onClick={() => onChange([...attachments, { key: attachmentKey(), name: "", size: "", content_type: "" }])}
        >
          Announce a file
        </button>
      </div>
    </>
  );
}

type AnnouncedProps = { attachment: AttachmentDraft; onChange: (part: Partial<AttachmentDraft>) => void };

/** A file whose bytes somebody uploads after the send. */
function Announced({ attachment: { name, size, content_type }, onChange }: AnnouncedProps) {
  return (
    <>
      <TextField label="Name" value={name} onChange={(text) => onChange({ name: text })} />
      <TextField
        label="Bytes"
        inputmode="numeric"
        isOptional
        value={size}
        onChange={(text) => onChange({ size: text })}
      />
      <TextField
        label="Media type"
        isOptional
        value={content_type}
        onChange={(text) => onChange({ content_type: text })}
      />
    </>
  );
}

type UploadedProps = { attachment: AttachmentDraft; upload: Upload; onRetry: () => void };

const standings = { going: "uploading…", stored: "uploaded", failed: "not uploaded" } as const;
const looks = { going: "warn", stored: "ok", failed: "bad" } as const;

function Uploaded({ attachment: { name, content_type }, upload, onRetry }: UploadedProps) {
  return (
    <div class="uploaded">
      <strong>{name}</strong>{" "}
      <span class="fine">
        {formatBytes(upload.file.size)}
        {content_type !== "" && ` · ${content_type}`}
      </span>{" "}
      <span class={`badge ${looks[upload.is]}`}>{standings[upload.is]}</span>
      {upload.is === "failed" && (
        <p class="field-error" role="alert">
          {upload.reason}{" "}
          <button type="button" class="link" onClick={onRetry}>
            Try again<span class="visually-hidden"> to upload {name}</span>
          </button>
        </p>
      )}
    </div>
  );
}
