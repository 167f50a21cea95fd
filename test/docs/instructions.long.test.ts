import { describe, setDefaultTimeout, test } from "bun:test";
import { allPages, type Page } from "./markdown.ts";
import { areFirstSteps, isRun, runPage } from "./page-runner.ts";

setDefaultTimeout(40_000);

describe("the instructions of the documentation work", () => {
  const runnable = allPages().filter((page) => page.blocks.some(isRun) && !areFirstSteps(page));
  test.each(runnable.map((page): [string, Page] => [page.path, page]))("%s", async (_path, page) => {
    await runPage(page);
  });
});
