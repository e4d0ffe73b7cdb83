/** Files for the next message: chosen, pasted or dropped, and uploaded at once. */

import { useLayoutEffect, useRef } from "preact/hooks";
import { sentence } from "../../api/http";
import { Cells, useCell } from "../../state/cell";
import { isPicture, weight, type FileRef } from "./files";
import { Picture } from "./list";
import { upload } from "./transfer";

export type Attached = {
  files: readonly FileRef[];
  isBusy: boolean;
  failure: string | undefined;
  add: (files: Iterable<File>) => void;
  remove: (id: string) => void;
  /** These files are sent. */
  clear: (ids: string[]) => void;
};

/** `open`: uploads that continue. */
type Uploads = { files: readonly FileRef[]; open: number; failure?: string | undefined };

const NONE: Uploads = { files: [], open: 0 };
const drafts = new Cells(NONE);

/** `draft`: the name under which files that were not sent yet are kept, while the page is open. */
export function useAttached(draft: string): Attached {
  const cell = drafts.of(draft);
  const { files, open, failure } = useCell(cell);
  const change = (to: (now: Uploads) => Partial<Uploads>) => cell.set({ ...cell.get(), ...to(cell.get()) });
  useLayoutEffect(() => change(() => ({ failure: undefined })), [cell]); // it is about another visit
  const add = (chosen: Iterable<File>) => {
    change(() => ({ failure: undefined }));
    for (const file of chosen) {
      change((now) => ({ open: now.open + 1 }));
      upload(file)
        .then((made) => change((now) => ({ files: [...now.files, made] })))
        .catch((error) => change(() => ({ failure: sentence(error) })))
        .finally(() => change((now) => ({ open: now.open - 1 })));
    }
  };
  const without = (ids: string[]) => cell.get().files.filter((file) => !ids.includes(file.file_id));
  const remove = (id: string) => change(() => ({ files: without([id]) }));
  const clear = (ids: string[]) => change(() => ({ files: without(ids), failure: undefined }));
  return { files, isBusy: open > 0, failure, add, remove, clear };
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
