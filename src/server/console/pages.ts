import type { PageFile, Pages } from "../../http/routes/console.ts";
import { bundleConsole } from "./bundle.ts";
import { moveBelow } from "./page-file.ts";

const demoPage = "demo/index.html";

type Options = {
  hasDemo: boolean;
  /** The path below which the server is reached. */
  basePath: string;
};

/**
 * Creates the console's pages, bundled when the first file is requested, and cached. There is no build step, and a server
 * whose console nobody opens never pays for it. A failed build is retried. The demo page exists only with `hasDemo`.
 */
export function createConsolePages({ hasDemo, basePath }: Options): Pages {
  let bundle: Promise<Map<string, PageFile>> | undefined;

  async function build(): Promise<Map<string, PageFile>> {
    const files = await bundleConsole();
    for (const [name, file] of basePath === "" ? [] : files)
      if (name.endsWith(".html")) files.set(name, await moveBelow(basePath, file));
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
