import { type PageFile, packFile } from "../../http/answers/pack-file.ts";

type Where = {
  /** The path below which the server is reached: the links of the page lead there. */
  basePath: string;
  /** The OpenID provider at which people sign in, whose host the page names; it needs no escaping. */
  issuer?: string | undefined;
};

/** A page as this server shows it. */
export async function rewritePage(page: PageFile, { basePath, issuer }: Where): Promise<PageFile> {
  const element = issuer && `<meta name="herald-provider" content="${new URL(issuer).host}">`;
  const text = new TextDecoder()
    .decode(page.bytes.identity)
    .replaceAll('="/', `="${basePath}/`)
    .replace("</head>", () => `${element ?? ""}</head>`);
  return await packFile(page.type, text);
}
