import { answerPreflight, type Origins } from "../gateway/connections/origins.ts";
import type { Handlers } from "./listen.ts";

/** Lets pages of allowed origins read files with `fetch`, as they read streams. Any page may show those it has an address of. */
export function shareFiles(
  handle: Handlers["handle"],
  { corsHeaders }: Pick<Origins, "corsHeaders">,
  basePath: string,
): Handlers["handle"] {
  const ofFile = new RegExp(`^https?://[^/]*(?:${basePath.replaceAll(".", "\\.")})?/files/`);
  const shareFile: Handlers["handle"] = async (request, running, listener) => {
    const cors = corsHeaders(request);
    const preflight = answerPreflight(request, cors);
    if (preflight !== undefined) return preflight;
    const response = await handle(request, running, listener);
    if (cors.Vary === undefined) return response;
    for (const [name, value] of Object.entries(cors)) response.headers.set(name, value);
    return response;
  };
  return (request, running, listener) => (ofFile.test(request.url) ? shareFile : handle)(request, running, listener);
}
