import { z } from "zod";
import { typingStatus } from "../contract/connections/typing.ts";

/** What nodes tell one another of a user who types; the subject names the organization. Members of later versions are ignored. */
export const typingNote = z.object({
  cid: z.string(),
  from: z.string(),
  status: typingStatus,
  t: z.int().min(0),
  after: z.int().min(0).optional(),
});
