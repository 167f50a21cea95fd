/** What browsers draw without running any of it. SVG and HTML are not among them: they may contain scripts. */
const pictures = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"]);

/** Whether a page may show a file of this media type as a picture. */
export function isPicture(contentType: string): boolean {
  return pictures.has((contentType.split(";")[0] ?? "").trim().toLowerCase());
}
