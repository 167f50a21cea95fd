import { type Action, actions, type Call } from "./actions.ts";
import { cli } from "./cli.ts";
import { goLiteral } from "./go-literal.ts";
import { pythonLiteral, typeScriptLiteral } from "./literals.ts";
import { fillIn, namesIn, pascalCase, snakeCase } from "./names.ts";

/** The languages that a call is shown in. */
export const languages = [
  ["curl", "curl"],
  ["cli", "CLI"],
  ["typescript", "TypeScript"],
  ["python", "Python"],
  ["go", "Go"],
] as const;

/** One of the languages. */
export type Language = (typeof languages)[number][0];

/** A whole program or command that makes a call of the server at this address. It reads the key from `HERALD_ADMIN_API_KEY`. */
export function codeOf(call: Call, language: Language, server: string): string {
  return writers[language](call, server);
}

const writers: Record<Language, (call: Call, server: string) => string> = { curl, cli, typescript, python, go };

/** The values of the parameters of the path, in its order. */
function namesOf({ path }: Action, { names }: Call): string[] {
  return namesIn(path).map((name) => names[name] ?? "");
}

function curl(call: Call, server: string): string {
  const { path, method, isFeed } = actions[call.action];
  const flags = isFeed ? "-N " : method === undefined ? "" : `-X ${method} `;
  const query = call.senderId === undefined ? "" : `?senderId=${encodeURIComponent(call.senderId)}`;
  return [
    `curl ${flags}"${server}${fillIn(path, call.names, encodeURIComponent)}${query}"`,
    `-H "Admin-Api-Key: $HERALD_ADMIN_API_KEY"`,
    ...(call.body === undefined
      ? []
      : [
          `-H "Content-Type: application/json"`,
          `-d '${JSON.stringify(call.body, undefined, 2).replaceAll("'", "'\\''")}'`,
        ]),
  ].join(" \\\n  ");
}

function typescript(call: Call, server: string): string {
  const action = actions[call.action];
  const inputs = [
    ...namesOf(action, call),
    ...(call.body === undefined ? [] : [call.body]),
    ...(call.senderId === undefined ? [] : [{ senderId: call.senderId }]),
  ];
  const given = `(${inputs.map(typeScriptLiteral).join(", ")})`;
  return `import { createAdmin } from "@herald/sdk/admin";

const admin = createAdmin({ url: ${JSON.stringify(server)}, key: process.env.HERALD_ADMIN_API_KEY ?? "" });
${
  action.isFeed
    ? `for await (const event of admin.events${given}) console.log(event);`
    : `console.log(await admin.${call.action}${given});`
}
`;
}

function python(call: Call, server: string): string {
  const action = actions[call.action];
  const inputs = [
    ...namesOf(action, call).map((name) => pythonLiteral(name)),
    ...Object.entries(call.body ?? {}).map(([name, value]) => `${name}=${pythonLiteral(value, 1)}`),
    ...(call.senderId === undefined ? [] : [`sender_id=${pythonLiteral(call.senderId)}`]),
  ];
  const isLong = call.body !== undefined;
  const given = isLong ? `\n${inputs.map((input) => `    ${input},\n`).join("")}` : inputs.join(", ");
  const [all, one = ""] = action.each ?? [action.python ?? call.action];
  const made = `herald.${snakeCase(all)}(${given})`;
  return `import os
from herald import Herald

herald = Herald(${JSON.stringify(server)}, os.environ["HERALD_ADMIN_API_KEY"])
${action.each === undefined ? `print(${made})` : `for ${one} in ${made}:\n    print(${one})`}
`;
}

function go(call: Call, server: string): string {
  const action = actions[call.action];
  const body =
    call.body === undefined
      ? undefined
      : goLiteral(`herald.${action.goRequest ?? pascalCase(call.action)}Request`, call.body);
  const inputs = [
    "ctx",
    ...namesOf(action, call).map((name) => JSON.stringify(name)),
    ...(body === undefined ? [] : [body.text]),
    ...(action.goOptions === undefined ? [] : [action.goOptions(call.senderId ?? "")]),
  ];
  const [all, one = "answer"] = action.each ?? [call.action];
  const made = `client.${pascalCase(all)}(${inputs.join(", ")})`;
  const fails = (depth: string) => `${depth}if err != nil {\n${depth}\tlog.Fatal(err)\n${depth}}\n`;
  const use = `json.NewEncoder(os.Stdout).Encode(${one})\n`;
  const main =
    action.each === undefined
      ? `\t${one}, err := ${made}\n${fails("\t")}\t${use}`
      : `\tfor ${one}, err := range ${made} {\n${fails("\t\t")}\t\t${use}\t}\n`;
  const before = (body?.before ?? []).map((line) => `\t${line}\n`).join("");
  const packages = [
    "context",
    "encoding/json",
    "log",
    "os",
    ...((before + main).includes("time.Date(") ? ["time"] : []),
  ];
  return `package main

import (
${packages.map((name) => `\t"${name}"\n`).join("")}
	herald "github.com/herald-im/herald/sdk-go"
)

func main() {
	ctx := context.Background()
	client, err := herald.New(herald.Options{URL: ${JSON.stringify(server)}, Key: os.Getenv("HERALD_ADMIN_API_KEY")})
${fails("\t")}${before}${main}}
`;
}
