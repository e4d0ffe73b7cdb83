/** What went wrong, in a sentence; nothing if nothing did. */

export const Failure = ({ text }: { text: string | undefined }) =>
  text ? (
    <p class="failure" role="alert">
      {text}
    </p>
  ) : null;
