import { describe, expect, test } from "bun:test";
import { asyncApiDocument } from "./asyncapi.ts";
import { exampleKeyFile, hiddenCliNote, placeAsyncApi, placeGuide, placePage, savedKeyFile } from "./place.ts";

const elsewhere = { url: "https://chat.example.org/herald", keyFile: savedKeyFile };
const here = { url: "http://127.0.0.1:7070", keyFile: exampleKeyFile };

const guide = `# Send

The server listens on \`http://127.0.0.1:7070\`. Open <http://127.0.0.1:7070/console>, with the key that \`cat data/admin-api-key\`
prints, not that in \`./data/admin-api-key\`. See [the demo](http://127.0.0.1:7070/console/demo).

\`\`\`sh run
curl http://127.0.0.1:7070/healthz -H "Admin-Api-Key: $(cat data/admin-api-key)"
\`\`\`

\`\`\`text
proxy_pass http://127.0.0.1:7070;
\`\`\`

\`\`\`js run
new WebSocket("ws://127.0.0.1:7070/ws");
\`\`\`
`;

describe("a page in Markdown", () => {
  test("is unchanged at a server with the default settings", () => {
    expect(placeGuide(guide, here)).toBe(guide);
  });

  test("calls the server that shows it, in commands and links, and says where the key is; settings and outputs remain", () => {
    expect(placeGuide(guide, elsewhere)).toBe(`# Send

> The commands on this page call this server, \`https://chat.example.org/herald\`, and read an API key from the file \`admin-api-key\` in the current folder: save one there first.

The server listens on \`http://127.0.0.1:7070\`. Open <https://chat.example.org/herald/console>, with the key that \`cat admin-api-key\`
prints, not that in \`./data/admin-api-key\`. See [the demo](https://chat.example.org/herald/console/demo).

\`\`\`sh run
curl https://chat.example.org/herald/healthz -H "Admin-Api-Key: $(cat admin-api-key)"
\`\`\`

\`\`\`text
proxy_pass http://127.0.0.1:7070;
\`\`\`

\`\`\`js run
new WebSocket("wss://chat.example.org/herald/ws");
\`\`\`
`);
  });

  test("says how the command line finds a server with another port or key", () => {
    const listen = "# Listen\n\n```sh run\nnpx herald listen\n```\n";
    expect(placeGuide(listen, here)).toBe(listen);
    expect(placeGuide(listen, { ...here, url: "http://127.0.0.1:7171" })).toStartWith(
      "# Listen\n\n> In each terminal, before the commands that begin with `npx herald`, run `export HERALD_URL=http://127.0.0.1:7171 HERALD_ADMIN_API_KEY=$(cat data/admin-api-key)`.\n\n",
    );
    expect(placeGuide(listen, elsewhere)).toContain("HERALD_ADMIN_API_KEY=$(cat admin-api-key)");
  });

  test("says nothing of that to commands which start a server, or read its settings, as it would override them", () => {
    const start = "# Start\n\n```sh run\nHERALD_PORT=1 npx herald serve\nnpx herald nodes --config herald.env\n```\n";
    expect(placeGuide(start, elsewhere)).toBe(start);
  });

  test("says nothing about a key that it does not use", () => {
    const plain = "# Health\n\n```sh run\ncurl http://127.0.0.1:7070/healthz\n```\n";
    expect(placeGuide(plain, elsewhere)).toBe(
      "# Health\n\n```sh run\ncurl https://chat.example.org/herald/healthz\n```\n",
    );
  });
});

test("a page of the reference names the address, also that of sockets, and the key's file", () => {
  const page = "<code>http://localhost:7070 ws://localhost:7070/ws $(cat data/admin-api-key)</code>";
  expect(placePage(page, elsewhere)).toBe(
    "<code>https://chat.example.org/herald wss://chat.example.org/herald/ws $(cat admin-api-key)</code>",
  );
});

test("a page of the reference shows how the command line finds the server, unless it does so by itself", () => {
  const page = `<p ${hiddenCliNote}>`;
  expect(placePage(page, here)).toBe(page);
  expect(placePage(page, { ...here, url: "http://127.0.0.1:7171" })).toBe('<p class="note">');
});

test("the AsyncAPI document names the server at which it is read, with its protocols", () => {
  const serversAt = (url: string, basePath = "") =>
    JSON.parse(placeAsyncApi(JSON.stringify(asyncApiDocument(basePath)), { url, keyFile: savedKeyFile })).servers;
  const host = (name: string) => ({ host: { default: name, description: "The address of this server." } });
  expect(serversAt("http://herald.test:8080")).toMatchObject({
    websocket: { protocol: "ws", variables: host("herald.test:8080") },
    http: { protocol: "http", variables: host("herald.test:8080") },
  });
  expect(serversAt("https://herald.test/herald", "/herald")).toMatchObject({
    websocket: { protocol: "wss", pathname: "/herald", variables: host("herald.test") },
    http: { protocol: "https", pathname: "/herald", variables: host("herald.test") },
  });
});
