/** A Content-Security-Policy that allows what is named here and nothing else; nobody may frame such a page. */
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

/** On every page for people, and on what belongs to it: no other site may frame it, open it or read it. */
export const isolationHeaders = {
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
  "Cross-Origin-Resource-Policy": "same-origin",
};
