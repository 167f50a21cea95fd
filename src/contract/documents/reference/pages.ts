import { defaultPayloadLimits, type PayloadLimits } from "../../limits.ts";
import { errorsPage } from "./errors-page.ts";
import { httpPage } from "./http-page.ts";
import { layOut } from "./layout.ts";
import { realtimePage } from "./realtime-page.ts";

/** The HTML of every page below `/docs`, by path. The pages contain no scripts and load no other resources. */
export function referencePages(limits: PayloadLimits = defaultPayloadLimits): Record<string, string> {
  const pages = [httpPage(limits), realtimePage(), errorsPage(limits)];
  return Object.fromEntries(pages.map((page) => [page.path, layOut(page)]));
}
