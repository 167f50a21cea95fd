import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { post, upgrade } from "../generator.ts";
import { payload, type StartCompared } from "../peer.ts";
import { findProgram, startProgram, versionOf } from "./programs.ts";

const locations = `
    location /publish { nchan_publisher; nchan_channel_id hall; }
    location /listen { nchan_subscriber websocket; nchan_channel_id hall; }`;

/** nginx with nchan, the channel in its memory. */
export const startNchan: StartCompared = async (folder) => {
  const nginx = findProgram("nginx", "libnginx-mod-nchan");
  if (nginx === undefined) return undefined;
  const program = await startProgram((port) => {
    const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    );
    const configuration = `
load_module /usr/lib/nginx/modules/ngx_nchan_module.so;
daemon off;
master_process off;
worker_rlimit_nofile 20000;
pid ${folder}/pid;
error_log stderr crit;
events { worker_connections 19000; }
http {
access_log off;
keepalive_requests 100000000;
${temporary.join("\n  ")}
server { listen 127.0.0.1:${port};${locations}
}
}`;
    writeFileSync(join(folder, "nginx.conf"), configuration);
    return [nginx, "-p", folder, "-e", "stderr", "-c", join(folder, "nginx.conf")];
  });
  return {
    name: "nginx + nchan",
    durability: "in memory",
    settings: "one worker, `access_log off`, the messages in shared memory (nchan's default)",
    version: versionOf([nginx, "-v"]),
    port: program.port,
    pids: [program.pid],
    listeners: (count) => Array.from({ length: count }, () => [upgrade("/listen")]),
    publisher: { opening: [], request: post("/publish", payload), answer: "http" },
    stop: program.stop,
  };
};
