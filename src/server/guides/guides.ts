import { guideText, llmsText, type Summary, summaryOf } from "../../contract/documents/guides.ts";
import { placeGuide } from "../../contract/documents/place.ts";
import type { Guides } from "../../http/routes/guides.ts";
import { createRecentCopy } from "../../lib/caches/recent-copy.ts";
import { steadyClock } from "../../lib/time/clock.ts";
import { listGuides, readGuide } from "./files.ts";

/** Creates what shows the documentation. Pages are read when somebody asks for them; the list of all is kept. */
export function createGuides({ basePath }: { basePath: string }): Guides {
  const forever = { maxAgeMs: Number.POSITIVE_INFINITY, clock: steadyClock };
  const names = createRecentCopy(async () => new Set(await listGuides()), forever);

  async function readAll(): Promise<ReadonlyMap<string, string>> {
    const texts = new Map<string, string>();
    for (const name of await names()) texts.set(name, await readGuide(name));
    return texts;
  }

  async function summarizeAll(): Promise<string> {
    const summaries = [...(await readAll())].map(([name, text]): [string, Summary] => [name, summaryOf(text)]);
    return llmsText(new Map(summaries), basePath);
  }

  return {
    all: readAll,
    list: createRecentCopy(summarizeAll, forever),
    async find(name, place) {
      const known = await names();
      if (!known.has(name)) return undefined;
      return placeGuide(
        guideText(name, await readGuide(name), (other) => known.has(other)),
        place,
      );
    },
  };
}
