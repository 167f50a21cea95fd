import { localNow, sendTimeOf } from "../../state/composing/draft.ts";
import { Field } from "./field.tsx";
import { Segments } from "./segments.tsx";

type Props = {
  /** A local time as typed, or `undefined` for now. */
  sendAt: string | undefined;
  mistake: string | undefined;
  onChange: (sendAt: string | undefined) => void;
};

const choices = [
  ["now", "Now"],
  ["later", "Later"],
] as const;

/** When to send: now, or at a time. */
export function SendTime({ sendAt, mistake, onChange }: Props) {
  const time = sendAt === undefined ? undefined : sendTimeOf(sendAt);
  const isPast = time !== undefined && Date.parse(time) <= Date.now();
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return (
    <>
      <Segments
        legend="When"
        value={sendAt === undefined ? "now" : "later"}
        options={choices}
        onChange={(chosen) => onChange(chosen === "now" ? undefined : localNow(60))}
      />
      {sendAt !== undefined && (
        <Field
          label="Send at"
          hint={isPast ? "This time has passed, so it is sent at once." : `In your time zone, ${zone}.`}
          error={mistake}
        >
          {(control) => (
            <input
              {...control}
              type="datetime-local"
              value={sendAt}
              onInput={({ currentTarget }) => onChange(currentTarget.value)}
            />
          )}
        </Field>
      )}
    </>
  );
}
