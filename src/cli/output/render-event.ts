import type { Message, MessageRead, SystemMessage } from "../../../sdk/index.ts";
import type { Style } from "./output.ts";
import { printableJson, printableLine, printableLines } from "./printable.ts";

const indent = " ".repeat(10);
const time = (date: Date) =>
  [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":");
const isEmpty = (x: object) => Object.keys(x).length === 0;

/** A conversation message for people: local time, conversation, sender and text, with attachments and `x` below. */
export function renderMessage({ created_at, cid, from, body, attachments, x }: Message, style: Style): string {
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

/** A system message for people, clearly different from a conversation message. */
export function renderSystemMessage({ t, from, x, _id }: SystemMessage, style: Style): string {
  const head = `${style.dim(time(new Date(t * 1000)))}  ${style.magenta("◆ system message")}  ${style.bold(printableLine(from))}`;
  const content = isEmpty(x) ? "" : `  ${printableJson(x)}`;
  return `${head}${content}  ${style.dim(`(${printableLine(_id)})`)}`;
}

/** A read for people: who has read how many messages of one author, and the last of them. */
export function renderMessageRead({ t, cid, from, ids }: MessageRead, style: Style): string {
  const head = `${style.dim(time(new Date(t * 1000)))}  ${style.cyan(printableLine(cid))}  ${style.bold(printableLine(from))}`;
  const what = ids.length === 1 ? "has read a message" : `has read ${ids.length} messages`;
  return `${head}  ${style.dim(`${what} (${printableLine(ids.at(-1) ?? "")})`)}`;
}
