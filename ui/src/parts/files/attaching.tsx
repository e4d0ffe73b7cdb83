/** Files for the next message: chosen, pasted or dropped, and uploaded at once. */

import { useRef, useState } from "preact/hooks";
import { sentence } from "../../api/http";
import { isPicture, weight, type FileRef } from "./files";
import { Picture } from "./list";
import { upload } from "./transfer";

export type Attached = {
  files: readonly FileRef[];
  isBusy: boolean;
  failure: string | undefined;
  add: (files: Iterable<File>) => void;
  remove: (id: string) => void;
  clear: () => void;
};

export function useAttached(): Attached {
  const [files, setFiles] = useState<readonly FileRef[]>([]);
  const [open, setOpen] = useState(0);
  const [failure, setFailure] = useState<string>();
  const add = (chosen: Iterable<File>) => {
    setFailure(undefined);
    for (const file of chosen) {
      setOpen((count) => count + 1);
      upload(file)
        .then((made) => setFiles((before) => [...before, made]))
        .catch((error) => setFailure(sentence(error)))
        .finally(() => setOpen((count) => count - 1));
    }
  };
  const remove = (id: string) => setFiles((before) => before.filter((file) => file.file_id !== id));
  return { files, isBusy: open > 0, failure, add, remove, clear: () => setFiles([]) };
}

export function AttachButton({ add }: { add: (files: Iterable<File>) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        data-testid="files"
        onChange={(event) => {
          add([...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = ""; // the same file may be chosen again
        }}
      />
      <button type="button" class="quiet" aria-label="Attach files" onClick={() => input.current?.click()}>
        +
      </button>
    </>
  );
}

export function AttachedFiles({ attached }: { attached: Attached }) {
  if (attached.files.length === 0 && !attached.isBusy) return null;
  return (
    <ul class="files" aria-label="Attached files" aria-busy={attached.isBusy}>
      {attached.files.map((file) => (
        <li key={file.file_id}>
          {isPicture(file) && <Picture file={file} />}
          <span>
            {file.name} <span class="faint">{weight(file.size)}</span>
          </span>
          <button
            type="button"
            class="quiet small"
            aria-label={`Remove ${file.name}`}
            onClick={() => attached.remove(file.file_id)}
          >
            ×
          </button>
        </li>
      ))}
      {attached.isBusy && <li class="faint">Uploading…</li>}
    </ul>
  );
}
