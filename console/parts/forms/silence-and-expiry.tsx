import type { Draft } from "../../state/composing/draft.ts";
import { Fold } from "./fold.tsx";
import { TimeChoice, zoneHint } from "./time-choice.tsx";

type Props = { draft: Draft; mistake: string | undefined; onChange: (change: Partial<Draft>) => void };

const dayInMinutes = 24 * 60;

/** Whether it is silent, and when it expires. `mistake` is about the time. */
export function SilenceAndExpiry({ draft, mistake, onChange }: Props) {
  return (
    <Fold summary="Silent and expiry" isWrong={mistake !== undefined}>
      <div class="checks">
        <label>
          <input
            type="checkbox"
            checked={draft.isSilent}
            onChange={({ currentTarget }) => onChange({ isSilent: currentTarget.checked })}
          />
          <span>
            Silent <span class="fine">Counts as unread nowhere, and no webhook tells of it.</span>
          </span>
        </label>
      </div>
      <TimeChoice
        legend="Expires"
        choices={["Never", "At a time"]}
        label="Expires at"
        hint={`From then on nobody receives or sees it, and its content is removed. ${zoneHint}`}
        time={draft.expires}
        proposedInMinutes={dayInMinutes}
        mistake={mistake}
        onChange={(expires) => onChange({ expires })}
      />
    </Fold>
  );
}
