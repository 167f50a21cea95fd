import { answerHeaders } from "../../contract/answer-headers.ts";
import { placeAsyncApi } from "../../contract/documents/place.ts";
import { pageRoutes, searchDataPath } from "../../contract/documents/reference/paths.ts";
import type { Operations } from "../../contract/operations/all.ts";
import type { PageFile } from "../answers/pack-file.ts";
import type { PackedTexts } from "../answers/packed-texts.ts";
import { answerFile, choose } from "../answers/page-file.ts";
import { isolationHeaders } from "../answers/page-headers.ts";
import type { PlaceOf } from "../answers/places.ts";
import type { Bind } from "../bind.ts";
import type { Answer } from "../call/answer.ts";
import type { Router } from "../call/exchange.ts";
import { routerPath } from "../calls.ts";
import type { Documents } from "./documents.ts";
import { type AnswerPage, keyOf } from "./pages.ts";

/** The health of a node: a check that is not `ok` says what is wrong, without necessarily affecting `isOk`. */
export type Health = { isOk: boolean; checks: Record<string, string> };

/** Checks whether a node is alive, and whether it accepts requests. */
export type HealthChecks = { liveness(): Promise<Health>; readiness(): Promise<Health> };

type Services = {
  health: HealthChecks;
  /** The path below which the server is reached; empty if it has a host of its own. */
  basePath: string;
  documents(): Promise<Documents>;
  answerPage: AnswerPage;
  placeOf: PlaceOf;
  packed: PackedTexts;
};

const type = "application/json";
/** Clients may keep it, and ask each time whether it is still the same (RFC 9111, section 5.2.2.4). */
const caching = { "Cache-Control": "no-cache" };

/** Binds what is open to everyone: health, the documents, the reference pages. */
export function bindOpen(
  app: Router,
  bind: Bind,
  operations: Operations,
  { basePath, documents, answerPage, placeOf, packed, health: { liveness, readiness } }: Services,
): void {
  const answer = ({ isOk, checks }: Health) => ({
    status: isOk ? 200 : 503,
    body: { status: isOk ? "ok" : "unavailable", checks },
  });
  bind(operations.getHealth, async () => answer(await liveness()));
  bind(operations.getReadiness, async () => answer(await readiness()));
  bind(operations.getOpenApi, async ({ headers }) => {
    const write = async () => ({ type, text: (await documents()).openApi });
    return answerWith(await packed.of(operations.getOpenApi.path, write), headers);
  });
  bind(operations.getAsyncApi, async ({ headers }, call) => {
    const { request, from } = call();
    const place = placeOf(request, from);
    const write = async () => ({ type, text: placeAsyncApi((await documents()).asyncApi, place) });
    return answerWith(await packed.of(keyOf(operations.getAsyncApi.path, place), write), headers);
  });

  for (const path of pageRoutes) {
    const route = { method: "GET", path };
    app.get(routerPath(route), ({ req, env: call }) => {
      call.route = route;
      return answerPage(req.raw, call, req.path);
    });
  }
  app.get(searchDataPath, async ({ req, env: call }) => {
    call.route = { method: "GET", path: searchDataPath };
    return answerFile(req.raw, call, (await documents()).search, { ...isolationHeaders, ...caching });
  });
  app.get(
    "/",
    ({ env: { requestId } }) =>
      new Response(null, {
        status: 302,
        headers: { Location: `${basePath}/docs`, "X-Request-Id": requestId, ...answerHeaders },
      }),
  );
}

function answerWith(file: PageFile, requested: Headers): Answer {
  const { headers: chosen, bytes } = choose(requested, file);
  const headers = { ...chosen, ...caching };
  return bytes === undefined ? { status: 304, headers } : { status: 200, body: bytes, contentType: file.type, headers };
}
