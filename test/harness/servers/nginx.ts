import { findNginx, type Nginx, startNginx } from "../engines/nginx.ts";

/**
 * Starts nginx in front of these nodes, to which it keeps connections alive; `undefined` if it is not installed, which is a failure
 * under CI. `proxy` has further lines of its settings.
 */
export async function startNginxBefore(
  nodes: readonly string[],
  proxy: readonly string[] = [],
): Promise<Nginx | undefined> {
  const program = findNginx();
  if (program === undefined) return undefined;
  return await startNginx(
    program,
    (address) => `
      upstream herald {
        ${nodes.map((url) => `server ${new URL(url).host} max_fails=0;`).join("\n")}
        keepalive 32;
      }
      proxy_http_version 1.1;
      proxy_set_header Host $http_host;
      proxy_set_header Connection "";
      ${proxy.join("\n")}
      server {
        listen ${address};
        location / { proxy_pass http://herald; }
      }`,
  );
}
