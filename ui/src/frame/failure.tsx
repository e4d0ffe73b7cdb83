/** An error in a sentence; nothing without an error. `again` retries. */

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
