import type { Call } from "../../state/code/actions.ts";
import type { TextFault } from "../../state/composing/check-json.ts";
import type { Draft, Kind } from "../../state/composing/draft.ts";
import type { Uploads } from "../../state/composing/uploads.ts";
import { Code } from "../code/code.tsx";
import { Attachments } from "./attachments.tsx";
import { Audience } from "./audience.tsx";
import { AreaField, TextField } from "./field.tsx";
import { Fold } from "./fold.tsx";
import { JsonEditor } from "./json-editor.tsx";
import { Keeping } from "./keeping.tsx";
import { Segments } from "./segments.tsx";
import { SendTime } from "./send-time.tsx";
import { SilenceAndExpiry } from "./silence-and-expiry.tsx";

type Props = {
  kinds: readonly Kind[];
  draft: Draft;
  suggestions: { conversations: readonly string[]; users: readonly string[] };
  mistakes: Record<string, string>;
  xFault: TextFault | undefined;
  /** The id of the send if none is typed. */
  placeholderId: string;
  isBusy: boolean;
  /** The send as a call of the API. */
  call: Call;
  /** Absent if the key may not upload. */
  uploads: Uploads | undefined;
  onChange: (change: Partial<Draft>) => void;
  onDryRun: () => void;
  onSend: () => void;
};

const idOfSend = "Sending again with the same id is a retry: nothing is stored or delivered twice.";
const idOfScheduled = "Scheduling again with the same id replaces what waits under it. At its time, it is sent once.";
const names = { message: "Message", system_message: "System message" } as const;

/** The form for a message or a system message. */
export function ComposeForm(props: Props) {
  const {
    kinds,
    draft,
    suggestions,
    mistakes,
    xFault,
    placeholderId,
    isBusy,
    call,
    uploads,
    onChange,
    onDryRun,
    onSend,
  } = props;
  const { kind } = draft;
  const isLater = draft.sendAt !== undefined;
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
        <Segments
          legend="What to send"
          isQuiet
          value={kind}
          options={kinds.map((one) => [one, names[one]] as const)}
          onChange={(chosen) => onChange({ kind: chosen })}
        />
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
            uploads={uploads}
            onChange={(attachments) => onChange({ attachments })}
          />
        </>
      ) : (
        <>
          <Audience draft={draft} conversations={suggestions.conversations} mistakes={mistakes} onChange={onChange} />
          <Keeping draft={draft} mistakes={mistakes} onChange={onChange} />
        </>
      )}
      <JsonEditor label="x, custom parameters" value={draft.x} onChange={(x) => onChange({ x })} fault={xFault} />
      <SendTime sendAt={draft.sendAt} mistake={mistakes.send_at} onChange={(sendAt) => onChange({ sendAt })} />
      <SilenceAndExpiry draft={draft} mistake={mistakes.expires_at} onChange={onChange} />
      <Fold summary="Id of the send" isWrong={mistakes.id !== undefined}>
        <TextField
          label="Id of the send"
          isOptional
          value={draft.id}
          placeholder={placeholderId}
          onChange={(id) => onChange({ id })}
          error={mistakes.id}
          hint={isLater ? idOfScheduled : idOfSend}
          isId
        />
      </Fold>
      <Fold summary="The same as code">
        <Code calls={[call]} />
      </Fold>
      <div class="actions">
        <button type="button" disabled={isBusy} onClick={onDryRun}>
          Dry run
        </button>
        <button type="submit" class="primary" disabled={isBusy}>
          {isLater ? "Schedule" : isBusy ? "Sending…" : "Send"}
        </button>
      </div>
    </form>
  );
}
