/** A list of values to choose one from, or all. */

type Chosen = {
  name: string;
  options: readonly string[];
  value: string | undefined;
  choose: (value: string | undefined) => void;
};

export function Choice({ name, options, value, choose }: Chosen) {
  return (
    <label class="inline">
      {name}
      <select
        aria-label={name}
        value={value ?? ""}
        onChange={(event) => choose(event.currentTarget.value || undefined)}
      >
        <option value="">all</option>
        {options.map((option) => (
          <option key={option}>{option}</option>
        ))}
      </select>
    </label>
  );
}
