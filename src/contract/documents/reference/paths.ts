import { closeCodes } from "../../connections/close-codes.ts";
import { abnormalClosure } from "../../connections/close-explanations.ts";
import { type ErrorCode, errorCatalogue } from "../../errors/errors.ts";
import type { Operation } from "../../operations/operation.ts";
import { guideKinds } from "../guides.ts";

/** The routes of the pages, in HTML and in Markdown: of single ones, and of those for each name in a place of the path. */
export const pageRoutes = [
  ...["/docs", "/docs/guides", "/docs/realtime", "/docs/errors"].flatMap((path) => [path, markdownPath(path)]),
  "/docs/api/{feature}",
  "/docs/errors/{code}",
  "/docs/close-codes/{code}",
];

/** Where a page is in Markdown. */
export function markdownPath(path: string): string {
  return `${path}.md`;
}

/** The page that lists the guides. */
export const guidesPath = "/docs/guides";

/** What the search needs: its script, and the texts of all pages. */
export const searchScriptPath = "/docs/search.js";
/** The texts of all pages, as `SearchData`. */
export const searchDataPath = "/docs/search.json";

const ofGuide = new RegExp(`^((?:${Object.keys(guideKinds).join("|")})/[\\w-]+)`);

/** Whether a path is that of a guide in HTML. */
export function isGuide(path: string): boolean {
  return ofGuide.test(path.replace(/^\/docs\//, ""));
}

/** Where a guide, such as `how-to/receive.md`, is shown in HTML; another file remains where it is. */
export function guidePath(name: string): string {
  return `/docs/${name.replace(new RegExp(`${ofGuide.source}\\.md$`), "$1")}`;
}

/** The page of the objects that requests and responses contain. */
export const objectsPath = "/docs/api/objects";

/** The page of a feature's operations. */
export function featurePath(tag: Operation["tag"]): string {
  return `/docs/api/${tag.toLowerCase()}`;
}

/** Where an operation is described. */
export function operationPath({ tag, operationId }: Pick<Operation, "tag" | "operationId">): string {
  return `${featurePath(tag)}#${operationId}`;
}

/** The page of an error. */
export function errorPath(code: ErrorCode): string {
  return `/docs/errors/${code}`;
}

/** The page of a close code. */
export function closeCodePath(code: number): string {
  return `/docs/close-codes/${code}`;
}

/** The codes of all errors. */
export const errorCodes = Object.keys(errorCatalogue) as ErrorCode[];

/** All close codes that a client meets, in ascending order. */
export const clientCloseCodes = [
  ...new Set([abnormalClosure, ...Object.values(closeCodes).map(({ code }) => code)]),
].sort((left, right) => left - right);
