import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Demo, Person } from "./demo.ts";
import { EntryRow, TypingRow } from "./entry-row.tsx";
import { explain } from "./explain.ts";
import { Bell, InboxList } from "./inbox.tsx";
import { type Standing, useClient } from "./use-client.ts";

type Props = { demo: Demo; person: Person; showsJson: boolean };

const nearEndPixels = 40;
const usualQuestion = "What does a streamed answer look like?";

/** One user: the connection's state, the received messages, and a form to send. */
export function PersonWindow({ demo, person, showsJson }: Props) {
  const { standing, entries, typists, inbox, fileUrl, goOffline, comeBack } = useClient(demo, person.id);
  const [showsInbox, setShowsInbox] = useState(false);
  const isOnline = standing.state === "connected";
  const files = { fileUrl, isOnline };
  const heading = useId();
  const isAway = standing.state === "stopped" || standing.state === "closed";
  const list = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  // Runs before a scroll event can make the list look scrolled up.
  useLayoutEffect(() => {
    // A reader who has scrolled up stays there.
    if (isAtEnd.current) list.current?.scrollTo({ top: list.current.scrollHeight });
  }, [entries, typists, showsJson]);

  // Pictures take their room when they are loaded.
  useLayoutEffect(() => {
    const { current: scroller } = list;
    const content = scroller?.firstElementChild;
    if (!scroller || !content) return;
    const observer = new ResizeObserver(() => isAtEnd.current && scroller.scrollTo({ top: scroller.scrollHeight }));
    observer.observe(content);
    return () => observer.disconnect();
  }, []);

  return (
    <section class="person card" aria-labelledby={heading}>
      <header>
        <h2 id={heading}>{person.name}</h2>
        <StandingBadge standing={standing} />
        <Bell person={person} unread={inbox.unread} isOpen={showsInbox} onToggle={() => setShowsInbox(!showsInbox)} />
        <button type="button" class="small" onClick={isAway ? comeBack : goOffline}>
          {isAway ? "Go online" : "Go offline"}
          <span class="visually-hidden"> as {person.name}</span>
        </button>
      </header>
      {standing.problem !== undefined && standing.state !== "connected" && <p class="problem">{standing.problem}</p>}
      {showsInbox && <InboxList inbox={inbox} person={person} people={demo.people} isOnline={isOnline} />}
      <div
        ref={list}
        class="scroller"
        role="log"
        aria-label={`What ${person.name} sees`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolling regions must be reachable with the keyboard (WCAG 2.1.1)
        tabIndex={0}
        onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
          isAtEnd.current = scrollTop + clientHeight > scrollHeight - nearEndPixels;
        }}
      >
        <ol class="entries">
          {entries.length === 0 && <li class="nothing">Nothing yet. Write something, here or as another user.</li>}
          {entries.map((entry) => (
            <EntryRow
              key={entry.key}
              entry={entry}
              uid={person.id}
              people={demo.people}
              showsJson={showsJson}
              files={files}
            />
          ))}
          {typists.map((uid) => (
            <TypingRow key={`typing ${uid}`} uid={uid} people={demo.people} />
          ))}
        </ol>
      </div>
      <Composer demo={demo} person={person} />
    </section>
  );
}

const badges: Record<Standing["state"], { text: string; look: string }> = {
  connecting: { text: "connecting", look: "warn" },
  connected: { text: "online", look: "ok" },
  reconnecting: { text: "reconnecting", look: "warn" },
  offline: { text: "no network", look: "warn" },
  stopped: { text: "offline", look: "" },
  closed: { text: "refused", look: "bad" },
};

function StandingBadge({ standing: { state, retryInMs } }: { standing: Standing }) {
  const { text, look } = badges[state];
  const wait = state === "reconnecting" && retryInMs !== undefined ? ` in ${(retryInMs / 1000).toFixed(1)} s` : "";
  return (
    <span class={`badge ${look}`} role="status">
      {text}
      {wait}
    </span>
  );
}

/** Sends through the admin API, as a backend would. Connections only receive. */
function Composer({ demo, person }: { demo: Demo; person: Person }) {
  const [body, setBody] = useState("");
  const [isKept, setIsKept] = useState(false);
  const [fault, setFault] = useState<string | undefined>(undefined);
  const others = demo.people.filter(({ id }) => id !== person.id);
  const field = useId();

  async function attempt(send: () => Promise<void>): Promise<void> {
    setFault(undefined);
    try {
      await send();
    } catch (error) {
      setFault(explain(error));
    }
  }

  async function submit(text: string, isQuestion: boolean): Promise<void> {
    if (text === "") return;
    setBody("");
    await attempt(async () => {
      try {
        await demo.send(person.id, text);
      } catch (error) {
        setBody((now) => (now === "" ? text : now)); // a failed send must not lose the text
        throw error;
      }
      if (isQuestion) await demo.answer();
    });
  }

  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void submit(body.trim(), false);
      }}
    >
      <label class="visually-hidden" for={field}>
        Message as {person.name}
      </label>
      <input
        id={field}
        value={body}
        placeholder={`Write as ${person.name}`}
        autocomplete="off"
        onInput={({ currentTarget }) => setBody(currentTarget.value)}
      />
      <button type="submit" class="primary">
        Send<span class="visually-hidden"> as {person.name}</span>
      </button>
      <button type="button" class="link" onClick={() => void submit(body.trim() || usualQuestion, true)}>
        Ask the assistant<span class="visually-hidden"> as {person.name}</span>
      </button>
      {others.length > 0 && (
        <button
          type="button"
          class="link"
          onClick={() =>
            void attempt(() =>
              demo.sendSystem(
                person.id,
                others.map(({ id }) => id),
                isKept,
              ),
            )
          }
        >
          Send a system message to {others.map(({ name }) => name).join(" and ")}
        </button>
      )}
      <button
        type="button"
        class="link"
        onClick={() => void attempt(() => demo.sendSystem(person.id, "everyone", isKept))}
      >
        Send one to everyone
      </button>
      <label class="choice">
        <input type="checkbox" checked={isKept} onChange={({ currentTarget }) => setIsKept(currentTarget.checked)} />
        Keep it for those who are offline
      </label>
      {fault !== undefined && (
        <p class="problem" role="alert">
          {fault}
        </p>
      )}
    </form>
  );
}
