import { spawnSync } from "node:child_process";
import { userInfo } from "node:os";

/** Reports in one line what is skipped because a program is missing; under CI that is a failure. */
export function reportMissing(program: string, debianPackage: string): undefined {
  return skip(`${program} is not installed (apt-get install ${debianPackage})`);
}

/**
 * Whether this is root, who alone may create namespaces and mounts. Otherwise reports what is skipped; under CI that is
 * a failure.
 */
export function isRoot(purpose: string): boolean {
  if (userInfo().uid === 0) return true;
  skip(`only root may do this: ${purpose}`);
  return false;
}

/** Whether npm reaches its registry. Otherwise reports what is skipped; under CI that is a failure. */
export function hasRegistry(): boolean {
  if (spawnSync("npm", ["ping", "--silent"]).status === 0) return true;
  skip("npm does not reach its registry");
  return false;
}

function skip(reason: string): undefined {
  if (process.env.CI === "true") throw new Error(reason);
  console.log(`skipped, since ${reason}: what needs it`);
  return undefined;
}
