import type { AttachmentDraft } from "../../state/composing/draft.ts";
import { TextField } from "./field.tsx";

type Props = {
  attachments: readonly AttachmentDraft[];
  mistakes: Record<string, string>;
  onChange: (attachments: AttachmentDraft[]) => void;
};

/** The attachments of a message, and a button that adds one. */
export function Attachments({ attachments, mistakes, onChange }: Props) {
  const change = (key: number, part: Partial<AttachmentDraft>) =>
    onChange(attachments.map((one) => (one.key === key ? { ...one, ...part } : one)));
  return (
    <>
      {attachments.map(({ key, name, size, content_type }, index) => (
        <fieldset key={key} class="attachment">
          <legend>Attachment {index + 1}</legend>
          <TextField label="Name" value={name} onChange={(text) => change(key, { name: text })} />
          <TextField
            label="Bytes"
            inputmode="numeric"
            isOptional
            value={size}
            onChange={(text) => change(key, { size: text })}
          />
          <TextField
            label="Media type"
            isOptional
            value={content_type}
            onChange={(text) => change(key, { content_type: text })}
          />
          <button
            type="button"
            class="small"
            aria-label={`Remove attachment ${index + 1}`}
            onClick={() => onChange(attachments.filter((one) => one.key !== key))}
          >
            Remove
          </button>
          {mistakes[`attachments/${index}`] !== undefined && (
            <p class="field-error" role="alert">
              {mistakes[`attachments/${index}`]}
            </p>
          )}
        </fieldset>
      ))}
      <div>
        <button
          type="button"
          class="link"
          onClick={() => onChange([...attachments, { key: Date.now(), name: "", size: "", content_type: "" }])}
        >
          Add an attachment
        </button>
      </div>
    </>
  );
}
