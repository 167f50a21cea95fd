import type { Command } from "commander";
import type {
  FeedEvent,
  Message,
  MessageAppend,
  MessageDelete,
  MessageEdit,
  MessageReactionsUpdate,
  MessageRead,
  SystemMessage,
  SystemMessageDelete,
  SystemMessageRead,
} from "../../../sdk/admin.ts";
import { parsePositive } from "../arguments.ts";
import type { Output, Style } from "./output.ts";
import { printableJson, printableLine, printableLines } from "./printable.ts";

const indent = " ".repeat(10);
const time = (date: Date) =>
  [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":");
const isEmpty = (x: object) => Object.keys(x).length === 0;

/** The options of every command that shows events as they arrive. */
export type PrintOptions = { count?: number | undefined; json?: true | undefined };

/** Adds `--count` and `--json` to a command. */
export function addPrintOptions(command: Command): Command {
  return command
    .option("--count <n>", "stop after this many events", parsePositive)
    .option("--json", "print each event exactly as received, one JSON object per line");
}

/** Creates a function that prints an event, and returns true once it has printed `count` of them. */
export function createEventPrinter({ count, json }: PrintOptions, output: Output): (event: FeedEvent) => boolean {
  const { resultStyle } = output;
  let left = count ?? Number.POSITIVE_INFINITY;
  return (event) => {
    if (json) output.json(event);
    else output.result(renderEvent(event, resultStyle));
    left -= 1;
    return left <= 0;
  };
}

/** An event for people. */
export function renderEvent(event: FeedEvent, style: Style): string {
  if ("message" in event) return renderMessage(event.message, style);
  if ("system_message" in event) return renderSystemMessage(event.system_message, style);
  if ("message_edit" in event) return renderEdit(event.message_edit, style);
  if ("message_append" in event) return renderPiece(event.message_append, style);
  if ("message_reactions_update" in event) return renderReaction(event.message_reactions_update, style);
  if ("message_delete" in event) return renderRecall(event.message_delete, style);
  if ("system_message_delete" in event) return renderSystemRecall(event.system_message_delete, style);
  if ("system_message_read" in event) return renderInboxRead(event.system_message_read, style);
  return renderRead(event.message_read, style);
}

/** A conversation message: local time, conversation, sender and text, with attachments and `x` below. */
function renderMessage({ created_at, cid, from, body, attachments, x }: Message, style: Style): string {
  const head = `${style.dim(time(new Date(created_at)))}  ${style.cyan(printableLine(cid))}  ${style.bold(printableLine(from))}`;
  const lines = body === "" ? [] : printableLines(body);
  const below = [
    ...(lines.length > 1 ? lines : []),
    ...attachments.map((file) =>
      style.dim(`attached  ${printableLine(file.file_name)}  (${printableLine(file.file_id)})`),
    ),
    ...(isEmpty(x) ? [] : [style.dim(`x  ${printableJson(x)}`)]),
  ];
  const first = lines.length === 1 ? `${head}  ${lines[0]}` : head;
  return [first, ...below.map((line) => `${indent}${line}`)].join("\n");
}

/** A reaction: the id of the message, and what was added and removed. */
function renderReaction({ mid, cid, from, add, remove }: MessageReactionsUpdate, style: Style): string {
  const changes = [add && `+ ${printableLine(add)}`, remove && `− ${printableLine(remove)}`]
    .filter((one) => one)
    .join(" ");
  const head = [style.cyan(printableLine(cid)), style.magenta("reaction"), style.bold(printableLine(from)), changes];
  return [...head, style.dim(printableLine(mid))].join("  ");
}

/** An edit: the id of the message, and its new text and `x` below. */
function renderEdit({ id, cid, from, body, x, t }: MessageEdit, style: Style): string {
  const head = [
    headOf(t, style),
    style.cyan(printableLine(cid)),
    style.magenta("✎ edit"),
    style.bold(printableLine(from)),
  ];
  const below = [
    ...(body === "" ? [] : printableLines(body)),
    ...(isEmpty(x) ? [] : [style.dim(`x  ${printableJson(x)}`)]),
  ];
  const lines = below.map((line) => `${indent}${line}`);
  return [`${head.join("  ")}  ${style.dim(`(${printableLine(id)})`)}`, ...lines].join("\n");
}

/** A piece of an open message: the id of the message, where the piece begins, and its text below. */
function renderPiece({ id, cid, from, offset, text, done, t }: MessageAppend, style: Style): string {
  const head = [
    headOf(t, style),
    style.cyan(printableLine(cid)),
    style.magenta(done ? "… the rest" : "… more"),
    style.bold(printableLine(from)),
    style.dim(`(${printableLine(id)}, from ${offset})`),
  ];
  const lines = text === "" ? [] : printableLines(text).map((line) => `${indent}${line}`);
  return [head.join("  "), ...lines].join("\n");
}

/** A recall: the ids of the messages below. */
function renderRecall({ ids, cid, from, type, t }: MessageDelete, style: Style): string {
  const head = [
    headOf(t, style),
    style.cyan(printableLine(cid)),
    style.magenta(type === "myself" ? "✖ hidden by" : "✖ taken back by"),
    style.bold(printableLine(from)),
  ];
  return withIds(head, ids, style);
}

/** A recall of system messages: their ids below. */
function renderSystemRecall({ ids, from, t }: SystemMessageDelete, style: Style): string {
  return withIds(
    [headOf(t, style), style.magenta("✖ system messages taken back by"), style.bold(printableLine(from))],
    ids,
    style,
  );
}

function withIds(head: string[], ids: string[], style: Style): string {
  return [head.join("  "), ...ids.map((id) => `${indent}${style.dim(printableLine(id))}`)].join("\n");
}

const headOf = (t: number, style: Style) => style.dim(time(new Date(t * 1000)));

/** A system message, clearly different from a conversation message. */
function renderSystemMessage({ t, from, x, _id, cid }: SystemMessage, style: Style): string {
  const conversation = cid === undefined ? "" : `${style.cyan(printableLine(cid))}  `;
  const head = `${headOf(t, style)}  ${style.magenta("◆ system message")}  ${conversation}${style.bold(printableLine(from))}`;
  const content = isEmpty(x) ? "" : `  ${printableJson(x)}`;
  return `${head}${content}  ${style.dim(`(${printableLine(_id)})`)}`;
}

/** What the user has seen or read in the inbox: the ids below. */
function renderInboxRead({ ids, seen, t }: SystemMessageRead, style: Style): string {
  return withIds([headOf(t, style), style.magenta(`◆ system messages ${seen ? "seen" : "read"}`)], ids, style);
}

/** A read: who has read how many messages of one author, and the last of them. */
function renderRead({ t, cid, from, ids }: MessageRead, style: Style): string {
  const head = `${headOf(t, style)}  ${style.cyan(printableLine(cid))}  ${style.bold(printableLine(from))}`;
  const what = ids.length === 1 ? "has read a message" : `has read ${ids.length} messages`;
  return `${head}  ${style.dim(`${what} (${printableLine(ids.at(-1) ?? "")})`)}`;
}
