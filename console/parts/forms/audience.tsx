import type { Audience as Chosen, Draft } from "../../state/composing/draft.ts";
import { linesOf } from "../../state/composing/draft.ts";
import { AreaField, TextField } from "./field.tsx";
import { Segments } from "./segments.tsx";

type Props = {
  draft: Draft;
  conversations: readonly string[];
  mistakes: Record<string, string>;
  onChange: (change: Partial<Draft>) => void;
};

const choices: readonly (readonly [Chosen, string])[] = [
  ["users", "Users"],
  ["conversation", "A conversation"],
  ["everyone", "Everyone"],
];

/** Whom a system message goes to. */
export function Audience({ draft, conversations, mistakes, onChange }: Props) {
  const { audience, cid, uids, keepDays } = draft;
  const reach =
    keepDays === "" ? "Only those who are online receive it." : "Those who are offline find it in their inboxes.";
  return (
    <>
      <Segments legend="To" value={audience} options={choices} onChange={(chosen) => onChange({ audience: chosen })} />
      {audience === "users" && (
        <AreaField
          label="To (users)"
          hint={`One user per line (${linesOf(uids).length} so far). ${reach}`}
          value={uids}
          onChange={(text) => onChange({ uids: text })}
          error={mistakes.uids}
          rows={4}
          isId
        />
      )}
      {audience === "conversation" && (
        <TextField
          label="To (conversation)"
          hint={`Everyone who takes part in it, as the sender must. ${reach}`}
          value={cid}
          onChange={(text) => onChange({ cid: text })}
          suggestions={conversations}
          error={mistakes.cid}
          isId
        />
      )}
      {audience === "everyone" && <p class="fine">All users of the organization. {reach} A dry run counts them.</p>}
    </>
  );
}
