import packageJson from "../../../package.json" with { type: "json" };
import { about } from "./about.ts";

/** What a page of the documentation is about: its heading and its first sentence, without markup. */
export type Summary = { title: string; sentence: string };

/** The kinds of pages, by the folder that they are in, in the order of `llms.txt`. */
export const guideKinds = {
  tutorial: "Tutorial",
  "how-to": "How-to guides",
  reference: "Reference",
  explanation: "Explanation",
} as const;

const repository = packageJson.repository.url.replace(/^git\+|\.git$/g, "");
const servedElsewhere: Record<string, string> = {
  "docs/reference/openapi.json": "../../openapi.json",
  "docs/reference/asyncapi.json": "../../asyncapi.json",
};
const link = /(\]\()([^)\s]+)(\))/g;
const isPicture = /\.(png|svg)$/;

/**
 * The text of a page, such as `how-to/receive.md`, as a server shows it: what its links lead to is at the server if `isServed`,
 * and otherwise in the repository.
 */
export function guideText(name: string, markdown: string, isServed: (name: string) => boolean): string {
  return markdown.replaceAll(link, (whole, before: string, target: string, after: string) => {
    if (/^([a-z]+:|#|\/)/.test(target)) return whole;
    const { pathname, hash } = new URL(target, `file:///docs/${name}`);
    const path = pathname.slice(1);
    if (path.startsWith("docs/") && isServed(path.slice("docs/".length))) return whole;
    const form = isPicture.test(path) ? "raw" : "blob";
    return before + (servedElsewhere[path] ?? `${repository}/${form}/main/${path}`) + hash + after;
  });
}

/** The summary of a page. */
export function summaryOf(markdown: string): Summary {
  const [heading = "", ...parts] = markdown.split(/\n{2,}/).filter((part) => !part.startsWith("<!--"));
  const first = plain(parts[0] ?? "");
  return { title: plain(heading), sentence: /^.*?[.:!?](?=\s|$)/.exec(first)?.[0].replace(/:$/, ".") ?? first };
}

/** The content of `llms.txt` (llmstxt.org): what Herald is, and its pages by kind, each with what it is about. */
export function llmsText(pages: ReadonlyMap<string, Summary>, basePath: string): string {
  const sections = Object.entries(guideKinds).map(([folder, kind]) => {
    const ofKind = [...pages].filter(([name]) => name.startsWith(`${folder}/`));
    const own = ofKind.map(([name, { title, sentence }]) => item(title, `${basePath}/docs/${name}`, sentence));
    const lines = folder === "reference" ? [...ofTheApi(basePath), ...own, ...machineReadable(basePath)] : own;
    return [`## ${kind}`, lines.join("\n")].join("\n\n");
  });
  const introduction = `This is the documentation of Herald ${about.version}, in Markdown. ${about.authentication} ${about.retries}`;
  return `${[`# ${about.title}`, `> ${about.introduction}`, introduction, ...sections].join("\n\n")}\n`;
}

function ofTheApi(basePath: string): string[] {
  return [
    item("HTTP API", `${basePath}/docs.md`, "Conventions, scopes, and every operation, with a page for each feature."),
    item("Real time", `${basePath}/docs/realtime.md`, "Requests and events of `/ws` and `/sse`, and every close code."),
    item("Errors", `${basePath}/docs/errors.md`, "Every error of the HTTP API, with a page for each."),
  ];
}

function machineReadable(basePath: string): string[] {
  return [
    item("OpenAPI", `${basePath}/openapi.json`, "The HTTP API: every operation, its schemas, examples and errors."),
    item("AsyncAPI", `${basePath}/asyncapi.json`, "The real-time API: events and frames of `/ws` and `/sse`."),
  ];
}

function item(title: string, path: string, sentence: string): string {
  return `- [${title}](${path}): ${sentence}`;
}

/** A paragraph on one line, without its markup but for code. */
function plain(paragraph: string): string {
  return paragraph
    .replaceAll(/^(#+|>)\s*/gm, "")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/\*+([^*]+)\*+/g, "$1")
    .trim();
}
