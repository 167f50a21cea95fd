import { useEffect, useRef, useState } from "preact/hooks";
import type { Heard } from "../state/feed.ts";
import { Badge } from "./badge.tsx";
import { Empty } from "./states.tsx";
import { timeOfDay } from "./time.tsx";

const rowHeight = 40;
const beyond = 4; // rows rendered above and below the visible ones

type Props = {
  heard: readonly Heard[];
  chosen: Heard | undefined;
  onChoose: (heard: Heard) => void;
  /** Called when the reader is looking at an entry, so the list must not move. */
  onHold: () => void;
  onRelease: () => void;
};

/**
 * A list of events, newest first. Renders only visible rows, so that hundreds of events per second cost as little as a dozen. Pauses
 * while it is scrolled or focused, so that nothing moves under the reader.
 */
export function EventList({ heard, chosen, onChoose, onHold, onRelease }: Props) {
  const box = useRef<HTMLElement>(null);
  const [view, setView] = useState({ top: 0, height: 480 });
  const read = () => {
    if (box.current === null) return;
    setView({ top: box.current.scrollTop, height: box.current.clientHeight });
  };
  useEffect(() => {
    read();
    addEventListener("resize", read);
    return () => removeEventListener("resize", read);
  }, []);
  const update = () => {
    read();
    const isAtRest = (box.current?.scrollTop ?? 0) === 0 && !box.current?.contains(document.activeElement);
    if (isAtRest) onRelease();
    else onHold();
  };

  const first = Math.max(0, Math.floor(view.top / rowHeight) - beyond);
  const last = Math.min(heard.length, Math.ceil((view.top + view.height) / rowHeight) + beyond);
  const rows: Heard[] = [];
  for (let place = first; place < last; place++) {
    const one = heard[heard.length - 1 - place];
    if (one !== undefined) rows.push(one);
  }
  return (
    <section
      class="event-list"
      ref={box}
      onScroll={update}
      onFocusIn={update}
      onFocusOut={() => setTimeout(update)}
      aria-label="Events, newest first"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard (WCAG 2.1.1)
      tabIndex={0}
    >
      {heard.length === 0 && (
        <Empty title="Nothing yet">Events that are delivered in this organization from now on appear here.</Empty>
      )}
      <ol style={{ height: `${heard.length * rowHeight}px` }}>
        {rows.map((one) => (
          <li
            key={one.number}
            style={{ top: `${(heard.length - 1 - indexOf(heard, one)) * rowHeight}px`, height: `${rowHeight}px` }}
          >
            <Row heard={one} isChosen={chosen?.number === one.number} onChoose={onChoose} />
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Event numbers increase by one, so the position follows from the number. */
function indexOf(heard: readonly Heard[], { number }: Heard): number {
  return number - (heard[0]?.number ?? number);
}

function Row({ heard, isChosen, onChoose }: { heard: Heard; isChosen: boolean; onChoose: (heard: Heard) => void }) {
  const { message, heardAt } = heard;
  return (
    <button type="button" class="event" aria-pressed={isChosen} onClick={() => onChoose(heard)}>
      <span class="event-time">{timeOfDay(heardAt)}</span>
      <Kind kind={heard.kind} />
      <span class="event-who">
        {"from" in message && message.from}
        {"cid" in message && ` → ${message.cid}`}
      </span>
      <span class="event-text">{textOf(heard)}</span>
    </button>
  );
}

const badges = {
  message: ["accent", "message"],
  system_message: ["system", "system"],
  message_edit: ["warn", "edit"],
  message_reactions_update: ["plain", "reaction"],
  message_delete: ["bad", "recall"],
  system_message_delete: ["bad", "recall"],
  message_read: ["plain", "read"],
  system_message_read: ["plain", "read"],
} as const;

function Kind({ kind }: Pick<Heard, "kind">) {
  const [tone, name] = badges[kind];
  return <Badge tone={tone}>{name}</Badge>;
}

function textOf(heard: Heard): string {
  if (heard.kind === "system_message") return JSON.stringify(heard.message.x);
  if (heard.kind === "system_message_read")
    return `has ${heard.message.seen ? "seen" : "read"} ${heard.message.ids.join(", ")}`.slice(0, 200);
  if (heard.kind === "message_read") return `has read ${heard.message.ids.join(", ")}`.slice(0, 200);
  if (heard.kind === "message_delete" || heard.kind === "system_message_delete")
    return `has taken back ${heard.message.ids.join(", ")}`.slice(0, 200);
  if (heard.kind === "message_reactions_update") {
    const { add, remove } = heard.message;
    return [add && `+ ${add}`, remove && `− ${remove}`].filter((one) => one !== undefined).join(" ");
  }
  if (heard.message.body !== "") return heard.message.body.slice(0, 200);
  return heard.kind === "message" ? heard.message.attachments.map(({ file_name }) => file_name).join(", ") : "";
}
