import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";

/** A checkout of this repository whose Herald is measured; `herald` is this one. */
export type Checkout = { name: string; root: string };

const here = resolve(import.meta.dir, "../..");

/** This checkout, and the one to compare it with, if any. They take turns. */
export function checkoutsOf(against: string | undefined): Checkout[] {
  const checkouts = [{ name: "herald", root: here }];
  if (against === undefined) return checkouts;
  const root = resolve(against);
  if (!existsSync(resolve(root, "src/cli/herald.ts")) || !existsSync(resolve(root, "node_modules")))
    throw new Error(`${root} is no checkout with its dependencies installed`);
  return [...checkouts, { name: "before", root }];
}

/** The Git revision of a checkout. */
export function revisionOf(root: string): string {
  return execFileSync("git", ["rev-parse", "--short", "HEAD"], { cwd: root, encoding: "utf8" }).trim();
}
