import type { FileDescription } from "../../types.ts";
import { type CallOptions, type Exchange, type Request, retry, type Settings } from "../exchange.ts";
import { type FileBody, openBytes } from "../http.ts";
import { path, query } from "./paths.ts";

/** The options of an upload. */
export type UploadOptions = CallOptions & {
  /** The media type of the file (default that of a `Blob`, else `application/octet-stream`). */
  contentType?: string | undefined;
};

/** The options of a download. */
export type DownloadOptions = CallOptions & {
  /** The organization of the file. */
  organization?: string | undefined;
};

const uploadMayTakeMs = 3_600_000;

/** Creates the calls about the files of messages. */
export function createFileCalls(exchange: Exchange, request: Request, settings: Settings) {
  const { root, key, fetch } = settings;

  async function upload(method: string, target: string, bytes: FileBody, { contentType, signal }: UploadOptions) {
    const type = contentType ?? ((bytes instanceof Blob && bytes.type) || "application/octet-stream");
    const isSafe = !(bytes instanceof ReadableStream); // twice is one file too many, which nobody names and which is removed
    const answer = await exchange(method, target, bytes, { type, isSafe, signal, waitMs: uploadMayTakeMs });
    return answer.body as FileDescription;
  }

  return {
    /**
     * Uploads a file, and resolves with its `file_id` for the attachment of a message. A file that no message has named within 24
     * hours is removed. A stream is sent as it comes, and not again after a failure.
     */
    async upload(org: string, name: string, bytes: FileBody, options: UploadOptions = {}): Promise<FileDescription> {
      return upload("POST", path`/admin/organizations/${org}/files` + query({ name }), bytes, options);
    },
    /** Uploads the bytes of a file that a send has announced: one of its attachments had no `file_id`. */
    async putFile(org: string, fileId: string, bytes: FileBody, options: UploadOptions = {}): Promise<FileDescription> {
      return upload("PUT", path`/admin/organizations/${org}/files/${fileId}`, bytes, options);
    },

    /** Reads what is known of a file, not its bytes. */
    async getFile(org: string, fileId: string, options: CallOptions = {}): Promise<FileDescription> {
      return request("GET", path`/admin/organizations/${org}/files/${fileId}`, undefined, options);
    },

    /** Removes a file; messages that name it stay as they are. */
    async deleteFile(org: string, fileId: string, options: CallOptions = {}): Promise<void> {
      await request("DELETE", path`/admin/organizations/${org}/files/${fileId}`, undefined, options);
    },
    /**
     * The address of a file, for programs that send the key or, as `Authorization: Bearer`, the token of a user who may have the
     * file. For an `<img>` or a link in a page, use `fileUrl` of the client, whose addresses need neither.
     */
    fileUrl(fileId: string): string {
      return root + path`/files/${fileId}`;
    },
    /**
     * Downloads a file. The response has begun, and its body comes as fast as it is read. A key that is bound to no organization
     * names the organization if several have a file of this id, as imports can bring one.
     */
    async download(fileId: string, { signal, organization }: DownloadOptions = {}): Promise<Response> {
      const url = root + path`/files/${fileId}` + query({ organization });
      const open = (timeoutMs: number) => openBytes({ url, key, timeoutMs, fetch, signal });
      return (await retry(open, settings, { signal })).response;
    },
  };
}
