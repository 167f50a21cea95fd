import { localNow } from "../../state/composing/draft.ts";
import { Field } from "./field.tsx";
import { Segments } from "./segments.tsx";

type Props = {
  legend: string;
  /** What to call no time, and a time. */
  choices: readonly [none: string, some: string];
  label: string;
  hint: string;
  /** A local time as typed, or `undefined` for none. */
  time: string | undefined;
  /** The time that is proposed, in minutes from now. */
  proposedInMinutes: number;
  mistake: string | undefined;
  onChange: (time: string | undefined) => void;
};

/** The browser's time zone, as a hint at a field for a time says it. */
export const zoneHint = `In your time zone, ${Intl.DateTimeFormat().resolvedOptions().timeZone}.`;

/** A choice between no time and a local date and time. */
export function TimeChoice({ legend, choices, label, hint, time, proposedInMinutes, mistake, onChange }: Props) {
  const [none, some] = choices;
  return (
    <>
      <Segments
        legend={legend}
        value={time === undefined ? "none" : "some"}
        options={[
          ["none", none],
          ["some", some],
        ]}
        onChange={(chosen) => onChange(chosen === "none" ? undefined : localNow(proposedInMinutes))}
      />
      {time !== undefined && (
        <Field label={label} hint={hint} error={mistake}>
          {(control) => (
            <input
              {...control}
              type="datetime-local"
              value={time}
              onInput={({ currentTarget }) => onChange(currentTarget.value)}
            />
          )}
        </Field>
      )}
    </>
  );
}
