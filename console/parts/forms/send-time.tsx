import { timeOf } from "../../state/composing/draft.ts";
import { TimeChoice, zoneHint } from "./time-choice.tsx";

/** The time that is proposed for a later send, in minutes from now. */
export const proposedInMinutes = 60;

type Props = {
  /** A local time as typed, or `undefined` for now. */
  sendAt: string | undefined;
  mistake: string | undefined;
  onChange: (sendAt: string | undefined) => void;
};

/** When to send: now, or at a time. */
export function SendTime({ sendAt, mistake, onChange }: Props) {
  const time = sendAt === undefined ? undefined : timeOf(sendAt);
  const isPast = time !== undefined && Date.parse(time) <= Date.now();
  return (
    <TimeChoice
      legend="When"
      choices={["Now", "Later"]}
      label="Send at"
      hint={isPast ? "This time has passed, so it is sent at once." : zoneHint}
      time={sendAt}
      proposedInMinutes={proposedInMinutes}
      mistake={mistake}
      onChange={onChange}
    />
  );
}
