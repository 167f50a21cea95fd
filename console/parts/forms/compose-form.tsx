import type { TextFault } from "../../state/composing/check-json.ts";
import type { AttachmentDraft, Draft, Kind } from "../../state/composing/draft.ts";
import { linesOf } from "../../state/composing/draft.ts";
import { AreaField, TextField } from "./field.tsx";
import { JsonEditor } from "./json-editor.tsx";

type Props = {
  kinds: readonly Kind[];
  draft: Draft;
  suggestions: { conversations: readonly string[]; users: readonly string[] };
  mistakes: Record<string, string>;
  xFault: TextFault | undefined;
  /** The id of the send if none is typed. */
  placeholderId: string;
  isBusy: boolean;
  request: unknown;
  onChange: (change: Partial<Draft>) => void;
  onDryRun: () => void;
  onSend: () => void;
};

const names = { message: "Message", system_message: "System message" } as const;

/** The form for a message or a system message. */
export function ComposeForm(props: Props) {
  const { kinds, draft, suggestions, mistakes, xFault, placeholderId, isBusy, request, onChange, onDryRun, onSend } =
    props;
  const { kind } = draft;
  return (
    <form
      class="card stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onSend();
      }}
    >
      {kinds.length > 1 && (
        <fieldset class="segments">
          <legend class="visually-hidden">What to send</legend>
          {kinds.map((one) => (
            <label key={one}>
              <input type="radio" name="kind" checked={one === kind} onChange={() => onChange({ kind: one })} />
              <span>{names[one]}</span>
            </label>
          ))}
        </fieldset>
      )}
      <div class="pair">
        <TextField
          label="From (user)"
          value={draft.senderId}
          onChange={(senderId) => onChange({ senderId })}
          suggestions={suggestions.users}
          error={mistakes.senderId}
          isId
        />
        {kind === "message" && (
          <TextField
            label="To (conversation)"
            value={draft.cid}
            onChange={(cid) => onChange({ cid })}
            suggestions={suggestions.conversations}
            error={mistakes.cid}
            isId
          />
        )}
      </div>
      {kind === "message" ? (
        <>
          <AreaField label="Text" value={draft.body} onChange={(body) => onChange({ body })} error={mistakes.body} />
          <Attachments
            attachments={draft.attachments}
            mistakes={mistakes}
            onChange={(attachments) => onChange({ attachments })}
          />
        </>
      ) : (
        <AreaField
          label="To (users)"
          hint={`One user per line (${linesOf(draft.uids).length} so far). Only users who are online receive it.`}
          value={draft.uids}
          onChange={(uids) => onChange({ uids })}
          error={mistakes.uids}
          rows={4}
          isId
        />
      )}
      <JsonEditor label="x, custom parameters" value={draft.x} onChange={(x) => onChange({ x })} fault={xFault} />
      <details>
        <summary>Id and request as JSON</summary>
        <div class="stack">
          <TextField
            label="Id of the send"
            isOptional
            value={draft.id}
            placeholder={placeholderId}
            onChange={(id) => onChange({ id })}
            error={mistakes.id}
            hint="Sending again with the same id is a retry: nothing is stored or delivered twice."
            isId
          />
          <pre class="code">{JSON.stringify(request, undefined, 2)}</pre>
        </div>
      </details>
      <div class="actions">
        <button type="button" disabled={isBusy} onClick={onDryRun}>
          Dry run
        </button>
        <button type="submit" class="primary" disabled={isBusy}>
          {isBusy ? "Sending…" : "Send"}
        </button>
      </div>
    </form>
  );
}

type AttachmentsProps = {
  attachments: readonly AttachmentDraft[];
  mistakes: Record<string, string>;
  onChange: (attachments: AttachmentDraft[]) => void;
};

function Attachments({ attachments, mistakes, onChange }: AttachmentsProps) {
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
