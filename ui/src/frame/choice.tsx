/** A list of values to choose one from, or all. A value that is no option, such as an old agent, is shown too. */

type Chosen = {
  name: string;
  options: readonly string[];
  value: string | undefined;
  choose: (value: string | undefined) => void;
};

export function Choice({ name, options, value, choose }: Chosen) {
  const all = value === undefined || options.includes(value) ? options : [...options, value];
  return (
    <label class="inline">
      {name}
      <select
        aria-label={name}
        value={value ?? ""}
        onChange={(event) => choose(event.currentTarget.value || undefined)}
      >
        <option value="">all</option>
        {all.map((option) => (
          <option key={option}>{option}</option>
        ))}
      </select>
    </label>
  );
}
