import { createHash } from "node:crypto";

/** The source of a Content-Security-Policy that allows this embedded script or stylesheet. */
export function hashSource(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

/** A Content-Security-Policy that allows only what is named here; nobody may frame the page. */
export function contentSecurityPolicy(allowed: Record<string, string>): string {
  const directives = {
    "default-src": "'none'",
    ...allowed,
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
  };
  return Object.entries(directives)
    .map(([name, sources]) => `${name} ${sources}`)
    .join("; ");
}

/** Headers of every HTML page and its assets: no other site may frame, open or read them. */
export const isolationHeaders = {
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
  "Cross-Origin-Resource-Policy": "same-origin",
};
