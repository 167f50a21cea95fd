/** Where the reader of a page reaches this server, and the file from which the page's commands read an API key. */
export type Place = { url: string; keyFile: string };

/** The address of a server with the default settings. */
export const exampleHost = "localhost:7070";

/** The file that has the key of a server with the default settings, seen from the folder in which it was started. */
export const exampleKeyFile = "data/admin-api-key";

/** The file that has the key of any other server: the reader saves one there. */
export const savedKeyFile = "admin-api-key";

/** How the commands of a page call the command line, which finds a server with the default settings by itself. */
export const cliCommand = "npx herald";

/** Whether a line calls the server that the command line finds: it neither starts one, nor names a file that says where it is. */
export function findsServer(line: string): boolean {
  return line.includes(cliCommand) && !/--config\b|\bserve\b/.test(line);
}

const exampleUrl = `http://${exampleHost}`;
const exampleSocketUrl = `ws://${exampleHost}`;
const guideUrl = /\b(http|ws):\/\/127\.0\.0\.1:7070\b/g;
const linkOfGuide = /(?<=\]\(|<|\[)(http):\/\/127\.0\.0\.1:7070(?=\/)/g;
const protocolOfServer = /(?<="host":"\{host\}",(?:"pathname":"[^"]*",)?"protocol":")(?:ws|http)(?=")/g;
const fenceLine = /^\s*```(\w*)/;
/** The languages of code that readers run. */
export const commandLanguages: ReadonlySet<string> = new Set(["sh", "ts", "js", "html", "go", "python"]);

/** The attributes of a note in a page of `/docs` that is for readers whose key is elsewhere. */
export const hiddenKeyNote = 'class="note" hidden';

/** The attributes of a note in a page of `/docs` that is for readers whose server the command line does not find by itself. */
export const hiddenCliNote = 'class="note" hidden data-cli';

/**
 * A page of `/docs` for a reader at `place`: the addresses and the key's file in it are those of this server. A page that needs a key
 * which is elsewhere says so, as does one whose commands would call a server with the default settings.
 */
export function placePage(page: string, place: Place): string {
  const { url, keyFile } = place;
  return page
    .replace(hiddenCliNote, isDefault(place) ? "$&" : 'class="note"')
    .replace(hiddenKeyNote, keyFile === exampleKeyFile ? "$&" : 'class="note"')
    .replaceAll(exampleUrl, url)
    .replaceAll(exampleSocketUrl, socketUrlOf(url))
    .replaceAll(exampleKeyFile, keyFile);
}

/** The AsyncAPI document for a reader at `place`: its servers are this one. */
export function placeAsyncApi(document: string, { url }: Place): string {
  const { host, protocol } = new URL(url);
  const placed = document.replaceAll(exampleUrl, url).replaceAll(`"${exampleHost}"`, JSON.stringify(host));
  return protocol === "https:" ? placed.replaceAll(protocolOfServer, "$&s") : placed;
}

/**
 * A page in Markdown for a reader at `place`: its commands and its links lead to this server. What it says about servers with the
 * default settings remains, as do settings, configurations and outputs. A page that needs a key which is elsewhere says so first, as does
 * one whose commands would call a server with the default settings.
 */
export function placeGuide(markdown: string, place: Place): string {
  const { url, keyFile } = place;
  const urlFor = (_: string, scheme: string) => (scheme === "ws" ? socketUrlOf(url) : url);
  let language: string | undefined;
  let needsKey = false;
  let needsCli = false;
  const lines = markdown.split("\n").map((line) => {
    const [isFence, opened] = fenceLine.exec(line) ?? [];
    if (isFence !== undefined) {
      language = language === undefined ? opened : undefined;
      return line;
    }
    if (language === undefined)
      return line.replaceAll(linkOfGuide, urlFor).replaceAll(/(?<!\.\/)data\/admin-api-key/g, keyFile);
    if (!commandLanguages.has(language)) return line;
    needsKey ||= line.includes(exampleKeyFile);
    needsCli ||= findsServer(line);
    return line.replaceAll(guideUrl, urlFor).replaceAll(exampleKeyFile, keyFile);
  });
  if (needsCli && !isDefault(place)) lines.splice(1, 0, "", cliNoteOn(place));
  if (needsKey && keyFile !== exampleKeyFile) lines.splice(1, 0, "", noteOn(place));
  return lines.join("\n");
}

function noteOn({ url, keyFile }: Place): string {
  return `> The commands on this page call this server, \`${url}\`, and read an API key from the file \`${keyFile}\` in the current folder: save one there first.`;
}

function cliNoteOn({ url, keyFile }: Place): string {
  return `> In each terminal, before the commands that begin with \`${cliCommand}\`, run \`export HERALD_URL=${url} HERALD_ADMIN_API_KEY=$(cat ${keyFile})\`.`;
}

function isDefault({ url, keyFile }: Place): boolean {
  return keyFile === exampleKeyFile && (url === exampleUrl || url === "http://127.0.0.1:7070");
}

function socketUrlOf(url: string): string {
  return url.replace(/^http/, "ws");
}
