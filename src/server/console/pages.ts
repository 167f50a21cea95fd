import type { PageFile, Pages } from "../../http/routes/console.ts";
import { bundleConsole } from "./bundle.ts";

const demoPage = "demo/index.html";

/**
 * Creates the console's pages, bundled when the first file is requested, and cached. There is no build step, and a server
 * whose console nobody opens never pays for it. A failed build is retried. The demo page exists only with `hasDemo`.
 */
export function createConsolePages({ hasDemo }: { hasDemo: boolean }): Pages {
  let bundle: Promise<Map<string, PageFile>> | undefined;
  return {
    async find(name) {
      if (name === demoPage && !hasDemo) return undefined;
      bundle ??= bundleConsole();
      try {
        return (await bundle).get(name);
      } catch (error) {
        bundle = undefined;
        throw error;
      }
    },
  };
}
