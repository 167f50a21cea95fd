import { decodeHint } from "../../../src/bus/hint-codec.ts";
import { type Product, product } from "../product.ts";

/** A forged signature counts like a valid one. */
export const checksNoSignatures: Product = {
  ...product,
  createSigner(clock) {
    const signer = product.createSigner(clock);
    return {
      ...signer,
      verify(...of) {
        const verdict = signer.verify(...of);
        return verdict === "forged" ? "signed" : verdict;
      },
    };
  },
};

/** More is trusted in an unsigned hint than that something happened. */
export const believesUnsignedHints: Product = {
  ...product,
  createSignedTexts(dependencies) {
    const texts = product.createSignedTexts(dependencies);
    return {
      ...texts,
      readHint(org, text) {
        const hint = texts.readHint(org, text);
        return hint === undefined || hint.offset !== undefined ? hint : decodeHint(text, org);
      },
    };
  },
};
