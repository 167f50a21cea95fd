import { useState } from "preact/hooks";
import type { Client } from "../../sdk/client-options.ts";
import type { Message } from "../../sdk/types.ts";
import { isPicture } from "../parts/files/kinds.ts";
import { saveFrom } from "../parts/files/save.ts";
import { formatBytes } from "../parts/format-bytes.ts";
import { isFresh, useFile } from "./use-file.ts";

/** What shows the files of a user. */
export type FileAccess = { fileUrl: Client["fileUrl"]; isOnline: boolean };

type Attachment = Message["attachments"][number];
type Props = FileAccess & { attachments: readonly Attachment[] };

/** The files of a message: pictures as pictures, others as links. */
export function Attachments({ attachments, ...access }: Props) {
  if (attachments.length === 0) return null;
  return (
    <ul class="files" aria-label="Files">
      {attachments.map((attachment) => (
        <li key={attachment.file_id}>
          <File attachment={attachment} {...access} />
        </li>
      ))}
    </ul>
  );
}

const reasons = {
  gone: "is not there any more: it was removed, or its message was taken back.",
  missing: "is not there: it has not been uploaded yet, or it was removed.",
};

function File({
  attachment: { file_id: fileId, file_name: name },
  ...access
}: FileAccess & { attachment: Attachment }) {
  const { file, ask } = useFile({ fileId, ...access });
  const [isUndrawable, setIsUndrawable] = useState(false);

  if (file.is === "unknown")
    return <p class="file">{access.isOnline ? `${name} …` : `${name}, once you are online`}</p>;
  if (file.is !== "there")
    return (
      <p class="file absent">
        <strong>{name}</strong> {file.is === "failed" ? `cannot be shown: ${file.reason}.` : reasons[file.is]}
        {file.is !== "gone" && (
          <button type="button" class="link" onClick={() => void ask()}>
            Look again<span class="visually-hidden"> for {name}</span>
          </button>
        )}
      </p>
    );

  const { url, type, size } = file;
  const link = (
    <a
      class="file"
      href={url}
      download={name}
      onClick={(event) => {
        if (isFresh(file)) return;
        event.preventDefault();
        void ask().then((found) => found.is === "there" && saveFrom(found.url, name));
      }}
    >
      {name} <span class="size">{formatBytes(size)}</span>
    </a>
  );
  if (!isPicture(type) || isUndrawable) return link;
  return (
    <figure>
      <img
        src={url}
        alt={name}
        onError={() => (isFresh(file) ? setIsUndrawable(true) : void ask())} // a picture may be loaded long after its address came
      />
      <figcaption>{link}</figcaption>
    </figure>
  );
}
