import { namesPrivateHost } from "../network/addresses.ts";

/** Those of the settings that a conflict is about. */
type Given<Name extends string> = { readonly [Each in Name]?: string | undefined };

type OidcSettings = Given<`HERALD_ADMIN_OIDC_${"ISSUER" | "CLIENT_ID" | "CLIENT_SECRET"}`> & {
  readonly HERALD_ADMIN_OIDC_ROLES?: object | undefined;
};
type FilesSettings = Given<`HERALD_FILES_${"URL" | "S3_ACCESS_KEY_ID" | "S3_SECRET_ACCESS_KEY"}`>;

/** What is wrong with the settings of the OpenID provider, or `undefined`. */
export function oidcConflictOf(config: OidcSettings): string | undefined {
  const { HERALD_ADMIN_OIDC_ISSUER: issuer } = config;
  const needed = ["HERALD_ADMIN_OIDC_CLIENT_ID", "HERALD_ADMIN_OIDC_ROLES"] as const;
  if (issuer === undefined) {
    const lone = [...needed, "HERALD_ADMIN_OIDC_CLIENT_SECRET" as const].find((name) => config[name] !== undefined);
    return lone && `${lone} requires HERALD_ADMIN_OIDC_ISSUER, the provider that it is for; set both, or neither`;
  }
  const missing = needed.find((name) => config[name] === undefined);
  if (missing !== undefined) return `HERALD_ADMIN_OIDC_ISSUER requires ${missing}; set both, or neither`;
  return issuer.startsWith("http:") && !namesPrivateHost(new URL(issuer))
    ? "HERALD_ADMIN_OIDC_ISSUER must begin with https://, because anyone who can alter its answers in transit can sign in; http:// is for private addresses only"
    : undefined;
}

/** What is wrong with the place of files, or `undefined`. */
export function filesConflictOf(config: FilesSettings): string | undefined {
  const { HERALD_FILES_URL: url } = config;
  if (url === undefined) return undefined;
  const { protocol, hostname } = new URL(url);
  if (protocol === "file:")
    return hostname === ""
      ? undefined
      : "HERALD_FILES_URL must name a folder of this machine, as file:///srv/files does";
  if (hostname === "") return "HERALD_FILES_URL must name a bucket, as s3://bucket/prefix does";
  for (const name of ["HERALD_FILES_S3_ACCESS_KEY_ID", "HERALD_FILES_S3_SECRET_ACCESS_KEY"] as const)
    if (config[name] === undefined) return `HERALD_FILES_URL requires ${name} for a bucket; set both`;
  return undefined;
}
