import type { WebhookEndpoint } from "../../../sdk/webhook-types.ts";
import { Badge } from "../badge.tsx";
import { Time } from "../time.tsx";

type Props = { webhook: Pick<WebhookEndpoint, "state" | "disabled_at" | "failing"> };

/** `answer` is what the receiver said. */
type AlarmProps = Props & { answer: string | undefined };

/** Whether a webhook posts, and whether what it posts is accepted. */
export function WebhookState({ webhook: { state, failing } }: Props) {
  if (state === "disabled") return <Badge tone="bad">disabled</Badge>;
  if (failing === null) return <Badge tone="ok">active</Badge>;
  return (
    <Badge tone="bad">
      failing since <Time at={failing.since} />
    </Badge>
  );
}

/** Why a webhook posts nothing, or why what it posts is not accepted. Empty if all is well. */
export function WebhookAlarm({ webhook: { state, disabled_at, failing }, answer }: AlarmProps) {
  if (state === "disabled") {
    return (
      <div class="notice bad" role="alert">
        <p class="notice-title">Switched off {disabled_at !== null && <Time at={disabled_at} />}</p>
        <p>
          Nothing is posted until the webhook is switched on again: {failing?.error ?? "the receiver answered 410"}.
        </p>
      </div>
    );
  }
  if (failing === null) return null;
  return (
    <div class="notice bad" role="alert">
      <p class="notice-title">
        Failing since <Time at={failing.since} />
      </p>
      <p>
        The last try, at <Time at={failing.at} />: {failing.error}. {hintOf(failing.error)}
      </p>
      {failing.status !== null && answer !== undefined && answer !== "" && <pre>{answer}</pre>}
      <p>
        What is not delivered waits for its next try, for three days. Once the receiver is mended, post a test, and then
        redeliver all failed.
      </p>
    </div>
  );
}

const hints: readonly (readonly [RegExp, string])[] = [
  [/ECONNREFUSED/, "Nothing listens at that address."],
  [/ENOTFOUND|EAI_AGAIN/, "Its name has no address."],
  [/ETIMEDOUT|timed? ?out/i, "It does not answer in time."],
  [/ECONNRESET|socket hang up/i, "It breaks the connection off."],
  [/certificate/i, "Its certificate is not valid."],
];

/** What the error of a try means, if it is one of the system's. */
function hintOf(error: string): string {
  return hints.find(([known]) => known.test(error))?.[1] ?? "";
}
