import { pascalCase } from "./names.ts";

const nullableText = "herald.Nullable[string]";
const nullableTexts = "herald.Nullable[[]string]";
const nullableNumber = "herald.Nullable[int]";

/** The types of the members of requests, as `models.gen.go` of the Go SDK declares them. Others are what their JSON is. */
const structs: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "herald.SendMessageRequest": { message: "herald.NewMessage" },
  "herald.SendSystemMessageRequest": { messageSystem: "herald.NewSystemMessage" },
  "herald.PutScheduledRequest": { request: "herald.Send", send_at: "time.Time" },
  "herald.Send": { message: "*herald.NewMessage", messageSystem: "*herald.NewSystemMessage" },
  "herald.NewMessage": { x: "map[string]any", attachments: "[]herald.NewAttachment", expires_at: "*time.Time" },
  "herald.NewAttachment": { size: "*int64" },
  "herald.NewSystemMessage": { x: "map[string]any", uids: "[]string", keep_days: "*int", expires_at: "*time.Time" },
  "herald.PutUserRequest": { name: nullableText },
  "herald.PutConversationRequest": { name: nullableText, participants: "[]string" },
  "herald.PutOrganizationRequest": { name: nullableText, limits: "*herald.LimitsChange" },
  "herald.LimitsChange": {
    requests_per_second: nullableNumber,
    messages_per_second: nullableNumber,
    connections: nullableNumber,
    stored_bytes: "herald.Nullable[int64]",
  },
  "herald.PutWebhookRequest": {
    events: "[]herald.WebhookEvent",
    wait_seconds: "*int",
    until: "*herald.UnreachedUntil",
  },
  "herald.CreateKeyRequest": {
    scopes: "[]herald.Scope",
    organization: nullableText,
    allowed_senders: nullableTexts,
    cidrs: nullableTexts,
    expires_at: "herald.Nullable[time.Time]",
  },
};

/** A request in Go, as gofmt lays it out, and the declarations of the variables whose addresses it takes. */
export function goLiteral(type: string, request: object): { before: string[]; text: string } {
  const before: string[] = [];

  function variableOf(key: string, text: string): string {
    const name = key.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    const others = before.filter((line) => line.startsWith(name)).length;
    const variable = others === 0 ? name : `${name}${others + 1}`;
    before.push(`${variable} := ${text}`);
    return `&${variable}`;
  }

  function struct(type: string, value: object, depth: number, name = type): string {
    const pairs = Object.entries(value).map(([key, item]): Pair => {
      const text = literal(structs[type]?.[key] ?? "", item, depth + 1, key);
      return [`${pascalCase(key)}:`, text];
    });
    return block(name, pairs, depth);
  }

  function literal(type: string, value: unknown, depth: number, key: string): string {
    const [, inner] = /^herald\.Nullable\[(.*)\]$/.exec(type) ?? [];
    if (inner !== undefined)
      return value === null ? `herald.Null[${inner}]()` : `herald.Value(${literal(inner, value, depth, key)})`;
    if (type === "time.Time") return timeLiteral(String(value));
    if (type === "int64") return `int64(${String(value)})`;
    if (type.startsWith("[]") && Array.isArray(value)) {
      const one = type.slice(2);
      const items = value.map((item): Pair => {
        const isStruct = typeof item === "object" && item !== null;
        return ["", isStruct ? struct(one, item, depth + 1, "") : JSON.stringify(item)];
      });
      return block(type, items, depth);
    }
    if (type.startsWith("*")) {
      const pointed = type.slice(1);
      if (structs[pointed] !== undefined) return `&${literal(pointed, value, depth, key)}`;
      const text = literal(pointed, value, depth, key);
      return variableOf(key, pointed.startsWith("herald.") ? `${pointed}(${text})` : text);
    }
    if (type in structs && typeof value === "object" && value !== null) return struct(type, value, depth);
    return anyLiteral(value, depth);
  }

  return { before, text: struct(type, request, 1) };
}

function timeLiteral(time: string): string {
  const at = new Date(time);
  const day = [at.getUTCFullYear(), at.getUTCMonth() + 1, at.getUTCDate()];
  const clock = [at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds(), at.getUTCMilliseconds() * 1_000_000];
  return `time.Date(${[...day, ...clock].join(", ")}, time.UTC)`;
}

/** Any JSON value, as Go decodes it. */
function anyLiteral(value: unknown, depth: number): string {
  if (value === null) return "nil";
  if (typeof value !== "object") return JSON.stringify(value);
  const inner = (item: unknown) => anyLiteral(item, depth + 1);
  if (Array.isArray(value))
    return block(
      "[]any",
      value.map((item): Pair => ["", inner(item)]),
      depth,
    );
  const pairs = Object.entries(value).map(([key, item]): Pair => [`${JSON.stringify(key)}:`, inner(item)]);
  return block("map[string]any", pairs, depth);
}

type Pair = readonly [key: string, text: string];

const isLong = ([, text]: Pair) => text.includes("\n");

/** A composite literal with one line for each item. Values in adjacent lines are aligned, unless they have several lines. */
function block(type: string, items: readonly Pair[], depth: number): string {
  const margin = "\t".repeat(depth + 1);
  const lines = items.map((item, place) => {
    const [key, text] = item;
    if (key === "") return `${margin}${text},\n`;
    return `${margin}${key.padEnd(isLong(item) ? 0 : widthAt(items, place))} ${text},\n`;
  });
  return lines.length === 0 ? `${type}{}` : `${type}{\n${lines.join("")}${"\t".repeat(depth)}}`;
}

/** The width of the longest key in the lines around a place, up to values of several lines. */
function widthAt(items: readonly Pair[], place: number): number {
  const start = items.slice(0, place).findLastIndex(isLong) + 1;
  const end = items.findIndex((item, at) => at > place && isLong(item));
  return Math.max(...items.slice(start, end < 0 ? undefined : end).map(([key]) => key.length));
}
