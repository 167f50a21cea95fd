import { z } from "zod";
import { isNetwork } from "../../lib/network/networks.ts";
import { pageOf } from "../directory.ts";
import { createdAt, identifier, isoTime, text } from "../identifiers.ts";
import { type Scope, scopes } from "./scopes.ts";

const maxNameCharacters = 256;
const maxSenders = 100;
const maxNetworks = 100;
const defaultOverlapSeconds = 24 * 3600;
const maxOverlapSeconds = 7 * 24 * 3600;

const names = Object.keys(scopes) as [Scope, ...Scope[]]; // the keys of a literal are its literals
/** The name of a scope. */
export const scope = z.enum(names).meta({ id: "Scope" });

function distinct(items: readonly string[]): boolean {
  return new Set(items).size === items.length;
}

/** An API key, as the admin API shows it: never its secret. */
export const apiKey = z
  .strictObject({
    id: z.string().meta({ description: "The id. The key itself contains it, after `hk_`." }),
    name: z.string().meta({ description: "The name, chosen by the caller." }),
    scopes: z.array(scope).meta({ description: "What the key may do." }),
    organization: z
      .string()
      .nullable()
      .meta({ description: "The only organization that the key can access. `null` means all." }),
    allowed_senders: z
      .array(z.string())
      .nullable()
      .meta({ description: "The only users that the key may send as. `null` means any." }),
    cidrs: z
      .array(z.string())
      .nullable()
      .meta({ description: "The only networks that the key may be used from. `null` means any." }),
    expires_at: isoTime.nullable().meta({ description: "When the key expires. `null` means never." }),
    created_at: createdAt,
    last_used_at: isoTime
      .nullable()
      .meta({ description: "When the key was last used, to within a minute or two. `null` means never." }),
    old_secret_expires_at: isoTime.nullable().meta({
      description: "When the secret from before the last rotation expires. `null` if no old secret works any more.",
    }),
  })
  .meta({ id: "ApiKey", description: "An API key, without its secret." });

/** An API key, as the admin API shows it. */
export type ApiKey = z.infer<typeof apiKey>;

/** An API key with its new secret, which is shown only once. */
export const apiKeyWithSecret = apiKey
  .extend({ key: z.string().meta({ description: "The value for `Admin-Api-Key`. It is shown only once." }) })
  .meta({ id: "ApiKeyWithSecret", description: "An API key with its secret. Save it now: it is shown only once." });

/** An API key with its new secret. */
export type ApiKeyWithSecret = z.infer<typeof apiKeyWithSecret>;

/** A page of API keys. */
export const apiKeyPage = pageOf(apiKey).meta({ id: "ApiKeyPage" });

/** The calling key and what it may do. The bootstrap key has no id. */
export const ownKey = apiKey
  .pick({ name: true, scopes: true, organization: true, allowed_senders: true, expires_at: true })
  .extend({
    id: z
      .string()
      .nullable()
      .meta({ description: "The id, or `null` for the bootstrap key, and for a person or workload without a key." }),
    key_id: z.string().meta({
      description:
        "What stands for the caller in the audit log and in proposals: its id, `bootstrap`, or `oidc:` and a subject.",
    }),
    organizations: z.array(z.string()).nullable().meta({
      description:
        "The organizations that the caller can access, with what its roles allow in each. `null` means all, or the one in `organization`.",
    }),
    session_id: z
      .string()
      .nullable()
      .meta({ description: "The session of the person who makes the call. `null` for a key or a token." }),
  })
  .meta({
    id: "OwnKey",
    description:
      "The calling key; or the person or workload that an OpenID provider vouches for, whose name is `name`. If the call used an old secret of a rotated key, `expires_at` is when that secret expires.",
  });

/** The calling key. */
export type OwnKey = z.infer<typeof ownKey>;

const inherited = "Omit it to inherit your own key's.";

/** The body of `POST /admin/keys`. */
export const createKeyRequest = z
  .strictObject({
    name: text(1, maxNameCharacters).meta({
      description: "A name that says what the key is for. It need not be unique.",
    }),
    scopes: z
      .array(scope)
      .min(1, "must name at least one scope")
      .refine(distinct, "must name each scope once")
      .meta({ description: "What the key may do, at most as much as your own key.", uniqueItems: true }),
    organization: identifier
      .nullable()
      .optional()
      .meta({ description: `The only organization that the key can access. \`null\` means all. ${inherited}` }),
    allowed_senders: z
      .array(identifier)
      .min(1, "must name at least one user; leave it out to allow any")
      .max(maxSenders, `must name at most ${maxSenders} users`)
      .refine(distinct, "must name each user once")
      .meta({ uniqueItems: true })
      .nullable()
      .optional()
      .meta({ description: `The only users that the key may send as. \`null\` means any. ${inherited}` }),
    cidrs: z
      .array(
        z
          .string()
          .refine(
            isNetwork,
            "must be a network such as 192.0.2.0/24 or 2001:db8::/32, with no bits set after the prefix",
          ),
      )
      .min(1, "must name at least one network; leave it out to allow any")
      .max(maxNetworks, `must name at most ${maxNetworks} networks`)
      .nullable()
      .optional()
      .meta({ description: `The only networks that the key may be used from. \`null\` means any. ${inherited}` }),
    expires_at: z.iso
      .datetime({ offset: true })
      .nullable()
      .optional()
      .meta({ description: `When the key expires, a time in the future. \`null\` means never. ${inherited}` }),
  })
  .meta({ id: "CreateKeyRequest" });

/** A request for a new key. */
export type CreateKeyRequest = z.output<typeof createKeyRequest>;

/** The body of `POST /admin/keys/{id}/rotate`. */
export const rotateKeyRequest = z
  .strictObject({
    overlap_seconds: z
      .int()
      .min(0)
      .max(maxOverlapSeconds)
      .default(defaultOverlapSeconds)
      .meta({ description: "How long the old secret keeps working, in seconds. 0 ends it immediately." }),
  })
  .meta({ id: "RotateKeyRequest" });
