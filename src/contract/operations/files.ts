import { z } from "zod";
import { fileExample } from "../documents/examples.ts";
import { fileShown, uploadQuery } from "../files.ts";
import { identifier } from "../identifiers.ts";
import { defineOperation } from "./operation.ts";

const stored = { description: "The file is stored.", schema: fileShown, example: fileExample };
const upload = {
  tag: "Files",
  scope: "files:write",
  takesBytes: true,
} as const;

/** Files (api.md, section 4.1). */
export const fileOperations = {
  createFile: defineOperation({
    ...upload,
    method: "post",
    path: "/admin/organizations/{org}/files",
    summary: "Upload a file",
    description:
      "The body is the bytes, and `Content-Type` their media type. They are stored before the response. An attachment of a message names the file by its `file_id`. A file that no message has named within 24 hours is removed. An upload that breaks off leaves nothing.",
    query: uploadQuery,
    answers: { 201: stored },
    errors: ["organization_not_found", "payload_too_large", "storage_full"],
  }),
  putFile: defineOperation({
    ...upload,
    method: "put",
    path: "/admin/organizations/{org}/files/{file_id}",
    summary: "Upload the bytes of an announced file",
    description:
      "A send whose attachment has no `file_id` announces a file: recipients see its id at once, and this call stores its bytes. Bytes that were stored before are replaced.",
    answers: {
      200: { ...stored, description: "The file has these bytes instead of earlier ones." },
      201: stored,
    },
    errors: ["organization_not_found", "file_not_found", "payload_too_large", "storage_full"],
  }),
  getFile: defineOperation({
    method: "get",
    path: "/admin/organizations/{org}/files/{file_id}",
    tag: "Files",
    scope: "history:read",
    summary: "Read what is known of a file",
    description: "`sha256` is `null` for a file that a send has announced and whose bytes are not uploaded yet.",
    answers: { 200: { ...stored, description: "The file." } },
    errors: ["organization_not_found", "file_not_found"],
  }),
  downloadFile: defineOperation({
    method: "get",
    path: "/files/{file_id}",
    tag: "Files",
    scope: "history:read",
    limitsItself: true,
    summary: "Download a file",
    description:
      "Takes a key; or `Authorization: Bearer` with the token of a user who takes part in a conversation in which a message names the file; or no header but an address from `get_file_urls`, which is valid for 10 minutes, for that user and file only. An import may bring the id of a file of another organization: then a key that is bound to none must name the organization, and is 422 otherwise. Answers `Range`, `If-Range` and `If-None-Match` (RFC 9110). Browsers save the file and never run it.",
    query: z.strictObject({
      organization: identifier.optional().meta({
        description:
          "The organization of the file. A key needs it only if several organizations have a file of this id.",
      }),
    }),
    answers: {
      200: { description: "The bytes, with the media type of the upload." },
      206: { description: "The part that `Range` asks for." },
      302: { description: "`Location` is an address of the store itself, if `HERALD_FILES_S3_REDIRECT` is set." },
      304: { description: "The bytes are those of `If-None-Match`." },
      416: { description: "`Range` asks for a part beyond the end." },
    },
    errors: ["file_not_found"],
  }),
  deleteFile: defineOperation({
    method: "delete",
    path: "/admin/organizations/{org}/files/{file_id}",
    tag: "Files",
    scope: "files:write",
    summary: "Remove a file",
    description: "Nobody can download it any more. Messages that name it stay as they are.",
    answers: { 204: { description: "The file is removed." } },
    errors: ["organization_not_found", "file_not_found"],
  }),
};
