import { expect, test } from "bun:test";
import { isPicture } from "./kinds.ts";

test.each(["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "IMAGE/PNG; name=a"])(
  "%s is shown as a picture",
  (type) => expect(isPicture(type)).toBe(true),
);

test.each(["image/svg+xml", "text/html", "image/png+xml", "application/pdf", "text/html; image/png", ""])(
  "%j is never shown, only offered as a download",
  (type) => expect(isPicture(type)).toBe(false),
);
