import type { PageFile } from "../../http/answers/pack-file.ts";
import type { Pages } from "../../http/routes/console.ts";
import { bundleConsole } from "./bundle.ts";
import { rewritePage } from "./rewrite-page.ts";

const consolePage = "index.html";
const demoPage = "demo/index.html";

type Options = {
  hasDemo: boolean;
  /** The path below which the server is reached. */
  basePath: string;
  /** The issuer at which people sign in; `undefined` without one. */
  issuer: string | undefined;
};

/**
 * Creates the console's pages, bundled when the first file is requested, and cached. There is no build step, and a server
 * whose console nobody opens never pays for it. A failed build is retried. The demo page exists only with `hasDemo`.
 */
export function createConsolePages({ hasDemo, basePath, issuer }: Options): Pages {
  let bundle: Promise<Map<string, PageFile>> | undefined;

  async function build(): Promise<Map<string, PageFile>> {
    const files = await bundleConsole();
    for (const [name, file] of files) {
      const named = name === consolePage ? issuer : undefined;
      const differs = basePath !== "" || named !== undefined;
      if (name.endsWith(".html") && differs) files.set(name, await rewritePage(file, { basePath, issuer: named }));
    }
    return files;
  }

  return {
    async find(name) {
      if (name === demoPage && !hasDemo) return undefined;
      bundle ??= build();
      try {
        return (await bundle).get(name);
      } catch (error) {
        bundle = undefined;
        throw error;
      }
    },
  };
}
