import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { $ } from "bun";
import { type Models, pascal, type Schema, toModels } from "./models-document.ts";

const root = resolve(import.meta.dir, "../..");
const source = join(root, "docs/reference/openapi.json");
const generator = "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2";

/** Where the models of the Go SDK are. */
export const goModelsFile = join(root, "sdk-go/models.gen.go");

const settings = {
  package: "herald",
  generate: { models: true },
  "output-options": {
    "skip-prune": true,
    "name-normalizer": "ToCamelCaseWithInitialisms",
    "additional-initialisms": ["CID", "UID", "MID"],
  },
};

const names = {
  BatchLine: "Send",
  "PutScheduledRequest.request": "Send",
  "Send.message": "NewMessage",
  "Send.messageSystem": "NewSystemMessage",
  "SendMessageRequest.message": "NewMessage",
  "NewMessage.attachments": "NewAttachment",
  "SendSystemMessageRequest.messageSystem": "NewSystemMessage",
  "SendMessageResponse.ask": "Ask",
  "SendSystemMessageResponse.ack": "Ack",
  "BatchAnswer.ask": "Ask",
  "BatchAnswer.ack": "Ack",
  "DryRunResponse.dry_run": "DryRun",
  "BatchAnswer.dry_run": "DryRun",
  "EditMessageRequest.messageEdit": "Edit",
  "RecallMessagesRequest.messageDelete": "Recall",
  "MarkReadRequest.messageRead": "Read",
  "Problem.errors": "FieldError",
  "Problem.code": "ErrorCode",
  "AuditEntry.code": "ErrorCode",
  "AuditEntry.result": "AuditResult",
  "ApiKey.scopes": "Scope",
  "ApiKeyWithSecret.scopes": "Scope",
  "OwnKey.scopes": "Scope",
  "CreateKeyRequest.scopes": "Scope",
  "ListedMessage.attachments": "Attachment",
  "ReportedMessage.attachments": "Attachment",
  "SystemMessageReport.system_message": "SystemMessage",
  "SystemMessageDelivery.by_user": "UserDelivery",
  "Organization.limits": "OrganizationLimits",
  "Organization.usage": "OrganizationUsage",
  "PutOrganizationRequest.limits": "LimitsChange",
  "ScheduledSend.state": "ScheduledState",
  "ImportMessage.attachments": "NewAttachment",
  "ImportLine.user": "ImportUser",
  "ImportLine.conversation": "ImportConversation",
  "ImportLine.participant": "ImportParticipant",
  "ImportLine.message": "ImportMessage",
  "ExportLine.user": "ExportUser",
  "ExportLine.conversation": "ExportConversation",
  "ExportLine.participant": "ExportParticipant",
  "ExportLine.message": "ExportMessage",
  "ExportMessage.attachments": "ExportAttachment",
};

/** Members whose Go name is not theirs in camel case. */
const goNames: Readonly<Record<string, string>> = { _id: "ID", uids: "UIDs", ids: "IDs", cidrs: "CIDRs" };

/** Numbers that can be larger than 32 bits allow. */
const wideNumbers = new Set(["t", "size", "stored_bytes"]);

/** The document that the generator reads. */
function goDocument(): object {
  const document: { info: object; components: { schemas: Models } } = JSON.parse(readFileSync(source, "utf8"));
  const schemas = toModels(document.components.schemas, names);
  for (const [name, schema] of Object.entries(schemas)) {
    if (name.endsWith("Page")) delete schemas[name]; // in Go, one generic type
    if (schema.enum !== undefined)
      schema["x-enum-varnames"] = schema.enum.map((value) => constant(name, String(value)));
    for (const [key, member] of Object.entries(schema.properties ?? {}))
      Object.assign(schema.properties ?? {}, { [key]: goMember(key, member, schema.required?.includes(key) === true) });
  }
  const { title, version } = { title: "Herald", version: "", ...document.info };
  return { openapi: "3.0.3", info: { title, version }, paths: {}, components: { schemas } };
}

const constant = (type: string, value: string): string => type + (value === "*" ? "All" : pascal(value));

/**
 * How Go holds a member. An empty text, a missing list and `false` mean that it is absent; a number, a time, an object and a
 * `boolean` that may be `false` are pointers. What may be `null` or absent, which differ, is a `Nullable`.
 */
function goMember(key: string, member: Schema, isRequired: boolean): Schema {
  const named = {
    ...member,
    ...(goNames[key] !== undefined && { "x-go-name": goNames[key] }),
    ...(wideNumbers.has(key) && { format: "int64" }),
    ...(member.nullable === true && isCollection(member) && { "x-go-type-skip-optional-pointer": true }),
  };
  if (isRequired) return named;
  if (member.nullable === true) {
    return { ...named, nullable: false, "x-go-type": `Nullable[${goTypeOf(named)}]`, ...absentIfZero };
  }
  const isText = member.type === "string" && member.format === undefined;
  return isText || isCollection(member) || member["x-only-true"] === true ? { ...named, ...absentIfZero } : named;
}

const absentIfZero = { "x-go-type-skip-optional-pointer": true, "x-omitzero": true, "x-omitempty": false };
const isCollection = ({ type, additionalProperties }: Schema): boolean =>
  type === "array" || additionalProperties !== undefined;

function goTypeOf({ type, format, items }: Schema): string {
  if (type === "array" && items !== undefined) return `[]${goTypeOf(items)}`;
  if (type === "string") return format === "date-time" ? "time.Time" : "string";
  if (type === "integer") return format ?? "int";
  throw new Error(`no Go type for ${String(type)}`);
}

/** What the models depend on, as one number: it is in their file, so that models that are stale are found without Go. */
export function goModelsKey(): string {
  const inputs = JSON.stringify([goDocument(), settings, generator]);
  return createHash("sha256").update(inputs).digest("hex").slice(0, 16);
}

/** Generates the text of the models. Go must be installed; it fetches the generator, and verifies it. */
export async function generateGoModels(go: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "herald-go-models-"));
  try {
    const [input, config] = [join(folder, "openapi.json"), join(folder, "config.yaml")];
    writeFileSync(input, JSON.stringify(goDocument()));
    writeFileSync(config, JSON.stringify(settings));
    const text = await $`${go} run ${generator} -config ${config} ${input}`.cwd(folder).text();
    const lines = text.split("\n").filter((line) => !line.startsWith("// Package "));
    const start = lines.findIndex((line) => line.startsWith("package "));
    return [
      `// Code generated by ${generator} DO NOT EDIT.`,
      `// Inputs: ${goModelsKey()}`,
      "",
      ...lines.slice(start),
    ].join("\n");
  } finally {
    rmSync(folder, { recursive: true });
  }
}
