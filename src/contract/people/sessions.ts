import { z } from "zod";
import { pageOf } from "../directory.ts";
import { isoTime } from "../identifiers.ts";
import { scope } from "../keys/keys.ts";

/** The session of a person, as the admin API shows it: never its secret. */
export const session = z
  .strictObject({
    id: z.string().meta({ description: "The id. It is not the secret in the person's cookie." }),
    person: z.string().meta({ description: "What the person is called: a verified address, or else a name." }),
    key_id: z.string().meta({ description: "What stands for the person in the `key_id` of the audit log." }),
    scopes: z.array(scope).meta({ description: "What the person may do, somewhere." }),
    organizations: z
      .array(z.string())
      .nullable()
      .meta({ description: "The only organizations that the person can access. `null` means all." }),
    address: z.string().nullable().meta({ description: "Where the person signed in from, if that is known." }),
    created_at: isoTime.meta({ description: "When the person signed in." }),
    expires_at: isoTime.meta({ description: "When the session ends, unless it is ended before." }),
  })
  .meta({
    id: "ConsoleSession",
    description: "The session of a person who signed in to the console at the OpenID provider.",
  });

/** The session of a person, as the admin API shows it. */
export type SessionShown = z.infer<typeof session>;

/** A page of sessions. */
export const sessionPage = pageOf(session).meta({ id: "ConsoleSessionPage" });
