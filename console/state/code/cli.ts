import type { MessageEnvelope, SystemMessageEnvelope } from "../../../sdk/types.ts";
import { type ActionName, actions, type Call } from "./actions.ts";
import { shellWord } from "./literals.ts";
import { fillIn } from "./names.ts";

/** The command line that makes a call. */
export function cli(call: Call, server: string): string {
  const { cli: template } = actions[call.action];
  if (listedIds(call.body ?? {}).some((id) => id.includes(",")))
    return "# The command line separates ids by commas, and one of these ids contains one: use another language.";
  const words =
    template === undefined
      ? (commands[call.action]?.(call.body ?? {}, call.names) ?? [])
      : [fillIn(template, call.names, shellWord), ...option("from", call.senderId)];
  return [`HERALD_URL=${shellWord(server)} herald ${words[0]}`, ...words.slice(1)].join(" \\\n  ");
}

type Send = MessageEnvelope | SystemMessageEnvelope;
type Planned = { send_at: string; request: Send };
type Fields = {
  name?: string | null;
  participants?: string[];
  limits?: Record<string, number | null>;
  url?: string;
  events?: string[];
  wait_seconds?: number;
  until?: string;
  scopes?: string[];
  organization?: string | null;
  allowed_senders?: string[] | null;
  cidrs?: string[] | null;
  expires_at?: string | null;
};

/** The commands of calls with a body: what to call, and its options. */
const commands: Partial<Record<ActionName, (body: object, names: Readonly<Record<string, string>>) => string[]>> = {
  sendMessage: (body) => ["send message", ...sendOptions(body as Send)],
  sendSystemMessage: (body) => ["send system", ...sendOptions(body as Send)],
  schedule(body, { id }) {
    const { send_at: at, request } = body as Planned;
    const verb = "message" in request ? "schedule message" : "schedule system";
    return [verb, ...option("at", at), ...option("id", id), ...sendOptions(request)];
  },
  putUser: (body, names) => [fillIn("users put {uid} --org {org}", names, shellWord), ...nameOption(body)],
  putConversation: (body, names) => [
    fillIn("conversations put {cid} --org {org}", names, shellWord),
    ...nameOption(body),
    ...option("participants", list((body as Fields).participants)),
  ],
  putOrganization: (body, names) => [
    fillIn("orgs put {org}", names, shellWord),
    ...nameOption(body),
    ...Object.entries((body as Fields).limits ?? {}).flatMap(([limit, value]) =>
      option(limit.replaceAll("_", "-"), value ?? "default"),
    ),
  ],
  putWebhook(body, names) {
    const { url, events = [], wait_seconds: wait, until } = body as Fields;
    const told = events.flatMap((event) => option("event", event));
    const more = [...option("post", url), ...told, ...option("wait", wait), ...option("until", until)];
    return [fillIn("webhooks put {wid} --org {org}", names, shellWord), ...more];
  },
  createKey(body) {
    const { name, scopes, organization, allowed_senders: senders, cidrs, expires_at: expires } = body as Fields;
    return [
      "keys create",
      ...option("name", name),
      ...option("scope", list(scopes)),
      ...option("org", organization),
      ...option("sender", list(senders)),
      ...option("cidr", list(cidrs)),
      ...option("expires", expires),
    ];
  },
};

function option(name: string, value: string | number | null | undefined): string[] {
  return value === undefined || value === null || value === "" ? [] : [`--${name} ${shellWord(String(value))}`];
}

function list(items: readonly string[] | null | undefined): string | undefined {
  return items?.join(",");
}

function nameOption(body: object): string[] {
  const { name } = body as Fields;
  return name === null ? ["--no-name"] : option("name", name);
}

function sendOptions(send: Send): string[] {
  const message = "message" in send ? send.message : send.messageSystem;
  const { x = {}, id, silent, expires_at: expires } = message;
  return [
    ...[...option("org", send.organizationId), ...option("from", send.senderId), ...audienceOption(send)],
    ...option("id", id),
    ...(Object.keys(x).length === 0 ? [] : option("x", JSON.stringify(x))),
    ...("message" in send ? (send.message.attachments ?? []) : []).flatMap(({ name, size, content_type, file_id }) =>
      option(
        "attachment",
        [name, size ?? "", content_type ?? "", ...(file_id === undefined ? [] : [file_id])].join(":"),
      ),
    ),
    ...("keep_days" in message ? option("keep-days", message.keep_days) : []),
    ...("key" in message ? option("keep-key", message.key) : []),
    ...(silent === true ? ["--silent"] : []),
    ...option("expires", expires),
    ...("message" in send && send.message.body ? [`-- ${shellWord(send.message.body)}`] : []),
  ];
}

function audienceOption(send: Send): string[] {
  if ("message" in send) return option("to", send.message.cid);
  const { uids, cid, everyone } = send.messageSystem as { uids?: string[]; cid?: string; everyone?: true };
  return everyone ? ["--everyone"] : [...option("to", list(uids)), ...option("to-conversation", cid)];
}

/** The ids in lists that the command line separates by commas. */
function listedIds(body: object): readonly string[] {
  const { participants, allowed_senders: senders } = body as Fields;
  const send = "request" in body ? (body as Planned).request : body;
  const { messageSystem: { uids } = {} } = send as { messageSystem?: { uids?: string[] } };
  return [participants, senders, uids].flatMap((ids) => ids ?? []);
}
