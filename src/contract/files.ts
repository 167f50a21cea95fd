import { z } from "zod";
import { createdAt, text } from "./identifiers.ts";

/** The media type of bytes of which nothing is known (RFC 2046, section 4.5.1). */
export const anyBytes = "application/octet-stream";

/** The longest name of a file, in characters. */
export const maxNameCharacters = 1_024;

/** The longest media type of a file, in characters. */
export const maxContentTypeCharacters = 255;

/** A file that is stored, or that a send has announced. */
export const fileShown = z
  .strictObject({
    file_id: z.string().meta({ description: "The id of the file, for the attachment of a message." }),
    name: z.string().meta({ description: "Its name, which its address offers to save it under." }),
    size: z.int().nonnegative().meta({ description: "Its size in bytes." }),
    content_type: z.string().meta({ description: "Its media type, as the caller gave it." }),
    sha256: z
      .string()
      .nullable()
      .meta({ description: "The SHA-256 of its bytes in hexadecimal; `null` until they are uploaded." }),
    created_at: createdAt,
  })
  .meta({ id: "StoredFile" });

/** A file, as a caller sees it. */
export type FileShown = z.infer<typeof fileShown>;

/** The query of an upload. */
export const uploadQuery = z.strictObject({
  name: text(1, maxNameCharacters).meta({ description: "The name of the file, with its extension." }),
});
