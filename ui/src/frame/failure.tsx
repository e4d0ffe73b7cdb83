/** What went wrong, in a sentence; nothing if nothing did. `again` is how to try once more. */

export const Failure = ({ text, again }: { text: string | undefined; again?: (() => unknown) | undefined }) =>
  text ? (
    <p class="failure" role="alert">
      {text}{" "}
      {again && (
        <button type="button" class="small" onClick={() => void again()}>
          Try again
        </button>
      )}
    </p>
  ) : null;
