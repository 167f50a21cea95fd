import { useEffect, useState } from "preact/hooks";
import { useConsole, useOrganization } from "../../state/context.ts";
import { mostRedelivered, type Redelivery, useRedelivery } from "../../state/redelivery.ts";
import { Dialog } from "../forms/dialog.tsx";
import { Problem } from "../problem.tsx";

type Props = { id: string; onEnd: () => void };

/** A button that posts all deliveries again that have failed for good, or wait for their next try. */
export function RedeliverAll({ id, onEnd }: Props) {
  const [isOpen, setIsOpen] = useState(false);
  const close = () => {
    setIsOpen(false);
    onEnd();
  };
  return (
    <>
      <button type="button" class="small" onClick={() => setIsOpen(true)}>
        Redeliver all failed
      </button>
      {isOpen && <Run id={id} onClose={close} />}
    </>
  );
}

function Run({ id, onClose }: { id: string; onClose: () => void }) {
  const { announce } = useConsole();
  const org = useOrganization();
  const { progress, isBusy, error, run, stop } = useRedelivery(org, id);
  const hasEnded = progress !== undefined && !isBusy;
  const outcome = progress === undefined || (error !== undefined && !progress.isPosting) ? "" : told(progress, isBusy);
  useEffect(() => {
    if (hasEnded) announce(outcome);
  }, [hasEnded]);
  return (
    <Dialog title="Redeliver all failed" onClose={onClose}>
      <p>
        Posts again what has failed for good, and does not wait for the next try of the rest. Each keeps its{" "}
        <code>webhook-id</code>. One run posts at most {mostRedelivered.toLocaleString("en-GB")} deliveries.
      </p>
      {progress !== undefined && (
        <>
          {isBusy && (
            <progress
              aria-label="Deliveries posted again"
              {...(progress.isPosting && { value: progress.posted + progress.gone, max: Math.max(1, progress.found) })}
            />
          )}
          {outcome !== "" && <p>{outcome}</p>}
        </>
      )}
      {error !== undefined && <Problem error={error} />}
      <div class="actions">
        {isBusy ? (
          <button
            type="button"
            onClick={() => {
              stop();
              announce("It stops");
            }}
          >
            Stop
          </button>
        ) : (
          <button type="button" onClick={onClose}>
            {hasEnded ? "Close" : "Cancel"}
          </button>
        )}
        {(!hasEnded || error !== undefined || progress.hasMore || progress.isStopped) && (
          <button type="button" class="primary" disabled={isBusy} onClick={() => run()}>
            {hasEnded ? "Continue" : "Redeliver"}
          </button>
        )}
      </div>
    </Dialog>
  );
}

function told({ found, isPosting, posted, gone, hasMore, isStopped }: Redelivery, isBusy: boolean): string {
  if (isBusy && !isPosting) return `Looking for failed deliveries: ${found} so far.`;
  if (isBusy) return `${posted} of ${found} are posted again.`;
  if (found === 0) return isStopped ? "Stopped." : "Nothing has failed, and nothing waits for its next try.";
  const rest = gone > 0 ? ` ${gone} ${gone === 1 ? "was" : "were"} gone.` : "";
  const end = isStopped ? " Stopped before the rest." : hasMore ? " There are more." : "";
  return `${posted} of ${found} ${posted === 1 ? "is" : "are"} posted again.${rest}${end}`;
}
