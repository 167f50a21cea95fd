import type { FileDescription } from "../../../sdk/types.ts";
import type { Problem } from "../clients/wire.ts";
import { type Answer, TEST_KEY } from "./herald.ts";
import type { Organization } from "./organization.ts";

type Options = { type?: string; key?: string };

/** The calls about files of an organization. `uploaded` expects 201; the others return any answer. */
export function filesOf({ herald, path }: Organization) {
  const headersOf = ({ type = "text/plain", key = TEST_KEY }: Options) => ({
    "Admin-Api-Key": key,
    "Content-Type": type,
  });
  const upload = (name: string, body: BodyInit, options: Options = {}): Promise<Answer<FileDescription & Problem>> =>
    herald.http("POST", `${path("files")}?name=${encodeURIComponent(name)}`, { body, headers: headersOf(options) });
  return {
    upload,
    async uploaded(name: string, body: BodyInit, options?: Options): Promise<FileDescription> {
      const answer = await upload(name, body, options);
      if (answer.status !== 201) throw new Error(`the file was refused with ${answer.status}: ${answer.text}`);
      return answer.body;
    },
    put: (id: string, body: BodyInit, options: Options = {}): Promise<Answer<FileDescription & Problem>> =>
      herald.http("PUT", path("files", id), { body, headers: headersOf(options) }),
    get: (id: string) => herald.admin<FileDescription & Problem>("GET", path("files", id)),
    remove: (id: string) => herald.admin<Problem>("DELETE", path("files", id)),
    /** Downloads with the key, or with these headers instead. */
    download: (id: string, headers: Record<string, string> = { "Admin-Api-Key": TEST_KEY }): Promise<Answer<string>> =>
      herald.http("GET", `/files/${encodeURIComponent(id)}`, { headers }),
    /** Downloads the file of an organization, with the key or with these headers. */
    downloadOf: (
      org: Pick<Organization, "id">,
      id: string,
      headers: Record<string, string> = { "Admin-Api-Key": TEST_KEY },
    ): Promise<Answer<string>> =>
      herald.http("GET", `/files/${encodeURIComponent(id)}?organization=${encodeURIComponent(org.id)}`, { headers }),
  };
}
