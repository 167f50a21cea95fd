import { guideKinds } from "../../contract/documents/guides.ts";
import type { Place } from "../../contract/documents/place.ts";
import { HeraldError } from "../../contract/errors/errors.ts";
import type { PackedTexts } from "../answers/packed-texts.ts";
import { answerFile } from "../answers/page-file.ts";
import type { PlaceOf } from "../answers/places.ts";
import type { Router } from "../call/exchange.ts";
import { routerPath } from "../calls.ts";
import { type AnswerPage, keyOf, markdownHeaders } from "./pages.ts";

/** The documentation, in Markdown. */
export type Guides = {
  /** The content of `llms.txt`. */
  list(): Promise<string>;
  /** A page, such as `how-to/receive.md`, for a reader at `place`; `undefined` if there is none. */
  find(name: string, place: Place): Promise<string | undefined>;
  /** The texts of all pages, by name, with links as in the repository. */
  all(): Promise<ReadonlyMap<string, string>>;
};

const listRoute = { method: "GET", path: "/llms.txt" };

type Services = { guides: Guides; placeOf: PlaceOf; answerPage: AnswerPage; packed: PackedTexts };

/** Binds `llms.txt` and the pages that it lists, in Markdown and in HTML. They are open, as `/docs` is. */
export function bindGuides(app: Router, { guides, placeOf, answerPage, packed }: Services): void {
  app.get(listRoute.path, async ({ req, env: call }) => {
    call.route = listRoute;
    const file = await packed.of(listRoute.path, async () => ({
      type: "text/plain; charset=utf-8",
      text: await guides.list(),
    }));
    return answerFile(req.raw, call, file, markdownHeaders);
  });
  for (const kind of Object.keys(guideKinds)) {
    const route = { method: "GET", path: `/docs/${kind}/{page}` };
    app.get(routerPath(route), async ({ req, env: call }) => {
      call.route = route;
      if (!req.path.endsWith(".md")) return answerPage(req.raw, call, req.path);
      const place = placeOf(req.raw, call.from);
      const file = await packed.of(keyOf(req.path, place), async () => {
        const text = await guides.find(`${kind}/${req.param("page")}`, place);
        if (text === undefined) throw new HeraldError("not_found");
        return { type: "text/markdown; charset=utf-8", text }; // RFC 7763
      });
      return answerFile(req.raw, call, file, markdownHeaders);
    });
  }
}
