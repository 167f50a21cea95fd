import { useState } from "preact/hooks";
import { useConsole, useOrganization } from "../../state/context.ts";
import type { Report, SentId } from "../../state/delivery.ts";
import { useAction, useLoading } from "../../state/loading.ts";
import { type Action, explain, type UserSection } from "../../state/why/explain.ts";
import { readFacts } from "../../state/why/read-facts.ts";
import { TextField } from "../forms/field.tsx";
import { Problem } from "../problem.tsx";
import { Loaded } from "../states.tsx";
import { SaidText } from "./said-text.tsx";

type WhyProps = { uid: string; sent: SentId; report?: Report | undefined };

/** A button that says why a user does not have a send, and what to do next. */
export function Why(props: WhyProps) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <div class="why">
      <button type="button" class="link" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
        Why?<span class="visually-hidden"> {props.uid} does not have it</span>
      </button>
      {isOpen && <Answer {...props} isMissing />}
    </div>
  );
}

function focusField({ currentTarget }: { currentTarget: HTMLDetailsElement }): void {
  if (currentTarget.open) currentTarget.querySelector("input")?.focus();
}

/** Asks for a user who is not among the recipients, and says why. */
export function WhyAnother({ sent, report }: Omit<WhyProps, "uid">) {
  const [uid, setUid] = useState("");
  const [asked, setAsked] = useState<string>();
  return (
    <details onToggle={focusField}>
      <summary>Why did somebody not get it?</summary>
      <div class="stack">
        <form
          class="filters"
          onSubmit={(event) => {
            event.preventDefault();
            if (uid !== "") setAsked(uid);
          }}
        >
          <TextField label="User" value={uid} onChange={setUid} isId required />
          <button type="submit">Ask</button>
        </form>
        {asked !== undefined && <Answer key={asked} uid={asked} sent={sent} report={report} isMissing={false} />}
      </div>
    </details>
  );
}

/** Asks for a message that a user did not get, and says why: also one that was never addressed to them. */
export function WhyMessage({ uid }: { uid: string }) {
  const [id, setId] = useState("");
  const [asked, setAsked] = useState<string>();
  return (
    <details onToggle={focusField}>
      <summary>Why did they not get a message?</summary>
      <div class="stack">
        <form
          class="filters"
          onSubmit={(event) => {
            event.preventDefault();
            setAsked(id.trim());
          }}
        >
          <TextField label="Id of the message" value={id} onChange={setId} isId required />
          <button type="submit">Ask</button>
        </form>
        {asked !== undefined && (
          <Answer key={asked} uid={uid} sent={{ kind: "message", id: asked }} isMissing={false} />
        )}
      </div>
    </details>
  );
}

function Answer({ uid, sent, report, isMissing }: WhyProps & { isMissing: boolean }) {
  const { client, can, route } = useConsole();
  const org = useOrganization();
  /** A link to the page that is open leads nowhere, unless it is about a section of it. */
  const isElsewhere = (action: Action) =>
    action.act !== "open" || action.section !== undefined || action.page !== route.page || action.id !== route.id;
  const facts = useLoading(
    () => readFacts({ client, can }, { org, uid, sent, report, isMissing }),
    [org, uid, sent.kind, sent.id],
  );
  return (
    <div class="reason stack" role="status" aria-label={`Why ${uid} did not get it`}>
      <Loaded loading={facts} what="the reason">
        {(known) => {
          const { says, actions } = explain(known);
          const possible = actions.filter((action) => can(action.scope) && isElsewhere(action));
          return (
            <>
              <p>
                <SaidText says={says} />
              </p>
              {possible.length > 0 && (
                <ul class="chips">
                  {possible.map((action) => (
                    <li key={action.label}>
                      <Next action={action} uid={uid} onDone={facts.reload} />
                    </li>
                  ))}
                </ul>
              )}
            </>
          );
        }}
      </Loaded>
    </div>
  );
}

type NextProps = { action: Action; uid: string; onDone: () => void };

function Next({ action, uid, onDone }: NextProps) {
  const { client, link, route, announce } = useConsole();
  const org = useOrganization();
  const add = useAction(async (cid: string) => {
    await client.addParticipant(org, cid, uid);
    announce(`${uid} takes part`);
    onDone();
  });
  if (action.act === "open") {
    const { section } = action;
    if (section !== undefined && action.page === route.page && action.id === route.id)
      return (
        <button type="button" class="link" onClick={() => showSection(section)}>
          {action.label}
        </button>
      );
    const query = action.page === "audit" ? { ...action.query, organization: org } : action.query;
    return <a href={link(action.page, action.id, query)}>{action.label}</a>;
  }
  return (
    <>
      <button type="button" class="small" disabled={add.isBusy} onClick={() => add.run(action.cid)}>
        {action.label}
      </button>
      {add.error !== undefined && <Problem error={add.error} />}
    </>
  );
}

/** Moves to a section of this page. */
function showSection(section: UserSection): void {
  const heading = document.getElementById(section);
  heading?.scrollIntoView({ block: "center" });
  heading?.closest("section")?.querySelector<HTMLElement>("select, button")?.focus({ preventScroll: true });
}
