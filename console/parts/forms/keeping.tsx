import type { Draft } from "../../state/composing/draft.ts";
import { TextField } from "./field.tsx";

type Props = { draft: Draft; mistakes: Record<string, string>; onChange: (change: Partial<Draft>) => void };

/** Whether a system message stays in inboxes, and what it replaces there. */
export function Keeping({ draft, mistakes, onChange }: Props) {
  const { keepDays, keepKey } = draft;
  return (
    <div class="pair">
      <TextField
        label="Keep for (days)"
        isOptional
        hint="1 to 365. It then stays in their inboxes."
        value={keepDays}
        onChange={(days) => onChange({ keepDays: days.trim() })}
        error={mistakes.keep_days}
        inputmode="numeric"
      />
      {keepDays !== "" && (
        <TextField
          label="Key"
          isOptional
          hint="It replaces the sender's earlier ones with this key."
          value={keepKey}
          onChange={(key) => onChange({ keepKey: key })}
          error={mistakes.key}
          isId
        />
      )}
    </div>
  );
}
