import { defaultPayloadLimits, type PayloadLimits } from "../../limits.ts";
import { createOperations } from "../../operations/all.ts";
import { closeCodePages } from "./close-code-pages.ts";
import { errorPages } from "./error-pages.ts";
import { errorsPage } from "./errors-page.ts";
import { featurePages, objectsOf } from "./feature-pages.ts";
import { type GuideTexts, guidePages } from "./guide-pages.ts";
import { httpPage } from "./http-page.ts";
import { layOut, type Page } from "./layout.ts";
import { isGuide, markdownPath } from "./paths.ts";
import { realtimePage } from "./realtime-page.ts";
import { type SearchData, searchData } from "./search-data.ts";
import { toMarkdown } from "./to-markdown.ts";

/** What is below `/docs`: the HTML of pages by their paths, and what a reader searches. */
export type Reference = { pages: Record<string, string>; search: SearchData };

/** Makes every page below `/docs`. The pages load nothing until the reader searches, and can be read without their script. */
export function reference(limits: PayloadLimits = defaultPayloadLimits, guides: GuideTexts = new Map()): Reference {
  const pages = allPages(limits, guides);
  return {
    pages: Object.fromEntries(pages.map((page) => [page.path, layOut(page)])),
    search: searchData(pages),
  };
}

/** Makes every page below `/docs` in Markdown, by their paths, which end in `.md`, but for the guides, which are written in it. */
export function referenceInMarkdown(
  limits: PayloadLimits = defaultPayloadLimits,
  guides: GuideTexts = new Map(),
): Record<string, string> {
  const pages = allPages(limits, guides);
  const paths = new Set(pages.map(({ path }) => path));
  const others = pages.filter(({ path }) => !isGuide(path));
  return Object.fromEntries(others.map((page) => [markdownPath(page.path), toMarkdown(page, paths)]));
}

function allPages(limits: PayloadLimits, guides: GuideTexts): Page[] {
  const operations = createOperations(limits);
  const objects = objectsOf(operations);
  return [
    ...guidePages(guides),
    httpPage(limits, operations, objects),
    ...featurePages(operations, objects),
    realtimePage(),
    errorsPage(operations),
    ...errorPages(operations),
    ...closeCodePages(),
  ];
}
