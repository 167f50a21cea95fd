import { expect, test } from "bun:test";
import type { ErrorCode, HeraldApiError, KnownErrorCode } from "../../sdk/admin.ts";
import { errorCatalogue } from "../../src/contract/errors/errors.ts";

type Catalogue = keyof typeof errorCatalogue;

test("the SDK knows every code of the catalogue and no other, and takes later ones", () => {
  // The check of the types fails for a code that one side lacks.
  const codes: Record<KnownErrorCode, Catalogue> = Object.assign(
    {},
    ...Object.keys(errorCatalogue).map((code) => ({ [code]: code })),
  );
  const ofCatalogue: Record<Catalogue, KnownErrorCode> = codes;
  expect(Object.keys(ofCatalogue)).toEqual(Object.keys(errorCatalogue));
  const later: ErrorCode & HeraldApiError["code"] = "of_a_later_version";
  expect(later).toBe("of_a_later_version");
});
